#pragma once

#include <pagoda/base/error.h>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// What a loss function may return instead of the bare loss: the mean loss of its feed, and further
/// numbers to report, each a mean over the feed as well.
struct Scored {
  at::Tensor loss;                                               ///< a scalar
  std::vector<std::pair<std::string, at::Tensor>> metrics = {};  ///< by name
};

/// A feed's loss and metrics as numbers.
struct FeedScore {
  double loss = 0;                                           ///< mean
  std::vector<std::pair<std::string, double>> metrics = {};  ///< means, by name
};

/// Fails: UsageError when the loss is not a single number.
inline void check_loss(const Scored& scored) {
  if (!scored.loss.defined() || scored.loss.numel() != 1) {
    throw UsageError("the loss function must return one number for a feed, its mean loss");
  }
}

/// Fails: UsageError when backward from this loss would reach no parameter, so that a step with it
/// would learn nothing.
inline void check_graph(const at::Tensor& loss) {
  if (loss.requires_grad()) return;
  throw UsageError(
      "the loss does not depend on any parameter that requires a gradient, so a step would learn "
      "nothing; return it as computed from the model's output, without detach(), item() or "
      "NoGradGuard, and leave something unfrozen");
}

/// A 16-bit loss as fp32, because what backward starts from may need that range; any other loss as
/// it is.
inline at::Tensor widened(const at::Tensor& loss) {
  const bool narrow = loss.scalar_type() == at::kHalf || loss.scalar_type() == at::kBFloat16;
  return narrow ? loss.to(at::kFloat) : loss;
}

/// The values of these tensors.
inline FeedScore numbers_of(const Scored& scored) {
  FeedScore score{.loss = scored.loss.item<double>()};
  for (const auto& [name, value] : scored.metrics)
    score.metrics.emplace_back(name, value.item<double>());
  return score;
}

namespace detail {

inline Scored as_scored(at::Tensor loss) { return {.loss = std::move(loss)}; }
inline Scored as_scored(Scored scored) { return scored; }

}  // namespace detail

/// A batch that a step can hand to a tower; see data/batch.h.
template <class T>
concept Feed = requires(const T& feed, at::Tensor (*change)(const at::Tensor&)) {
  { feed.weight() } -> std::convertible_to<double>;
  { feed.sample_numbers() } -> std::convertible_to<std::vector<std::int64_t>>;
  { feed.with_tensors(change) } -> std::convertible_to<T>;
};

}  // namespace pagoda
