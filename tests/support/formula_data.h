#pragma once

// Data that is a formula of the sample number, so that any cut of it can be made anywhere.

#include <pagoda/data/batch.h>

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace pagoda::testing {

inline constexpr std::int64_t kInputs = 4;
inline constexpr std::int64_t kOutputs = 3;
inline constexpr std::int64_t kWords = 29;

/// waves({n, ...}, first) differs for every sample and element; samples count from `first`.
inline at::Tensor waves(const std::vector<std::int64_t>& shape, std::int64_t first, double pace) {
  std::int64_t elements = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) elements *= shape[i];
  const at::Tensor sample = torch::arange(first, first + shape[0], torch::kDouble).unsqueeze(1);
  const at::Tensor element = torch::arange(elements, torch::kDouble);
  return torch::sin(sample * pace + element * 1.3 + 0.1).reshape(shape);
}

inline std::vector<std::int64_t> sample_numbers(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(first + i);
  return numbers;
}

/// Makes the feed of samples [first, first + count).
using MakeFeed = Batch (*)(std::int64_t first, std::int64_t count);

inline Batch vector_feed(std::int64_t first, std::int64_t count) {
  return {.input = waves({count, kInputs}, first, 0.7),
          .target = waves({count, kOutputs}, first, 0.4),
          .samples = sample_numbers(first, count)};
}

inline Batch image_feed(std::int64_t first, std::int64_t count) {
  return {.input = waves({count, 3, 8, 8}, first, 0.7),
          .target = waves({count, kOutputs}, first, 0.4),
          .samples = sample_numbers(first, count)};
}

/// Three words a sample; a feed repeats some words and leaves most out.
inline Batch word_feed(std::int64_t first, std::int64_t count) {
  const at::Tensor sample = torch::arange(first, first + count, torch::kLong).unsqueeze(1);
  const at::Tensor place = torch::arange(3, torch::kLong);
  return {.input = (sample * 5 + place * sample).remainder(kWords),
          .target = waves({count, kOutputs}, first, 0.4),
          .samples = sample_numbers(first, count)};
}

/// The feeds of one step: `sizes` samples each, following those of the steps before.
inline std::vector<Batch> feeds_of(MakeFeed make, const std::vector<std::int64_t>& sizes,
                                   int step) {
  std::int64_t all = 0;
  for (const std::int64_t size : sizes) all += size;
  std::int64_t next = step * all;
  std::vector<Batch> feeds;
  for (const std::int64_t size : sizes) {
    feeds.push_back(make(next, size));
    next += size;
  }
  return feeds;
}

/// All samples of the feeds as one batch.
inline Batch whole(const std::vector<Batch>& feeds) {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> targets;
  for (const auto& feed : feeds) {
    inputs.push_back(feed.input);
    targets.push_back(feed.target);
  }
  return {.input = torch::cat(inputs), .target = torch::cat(targets)};
}

}  // namespace pagoda::testing
