#include "optim/own_updater.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "optim/combined_gradient.h"
#include "optim/fused_pass.h"
#include "params/span_kernels.h"

namespace pagoda {
namespace {

OptimizerTraits checked_traits(const detail::OwnTraits& own) {
  std::set<std::string> names = {"updates"};  // the count, which every optimizer has
  for (const auto& [name, initial] : own.state) {
    const bool plain = !name.empty() && name.find('/') == std::string::npos;
    if (plain && names.insert(name).second) continue;
    throw UsageError("an optimizer's state has the name '" + name +
                     "'; names must differ, be neither empty nor 'updates', and have no '/'");
  }
  if (own.state.size() > kMaxStateArrays) {
    throw UsageError("an optimizer keeps " + std::to_string(own.state.size()) +
                     " numbers for each element; it may keep " + std::to_string(kMaxStateArrays));
  }
  return {.name = "an optimizer without the field weight_decay",
          .learning_rate = own.learning_rate,
          .state = own.state,
          .weight_decay = own.weight_decay,
          .rests_without_gradient = own.rests_without_gradient};
}

/// Hands spans to the user's formula; L2 and moving average are not its business.
class ElementKernel {
 public:
  explicit ElementKernel(std::shared_ptr<const detail::ElementUpdate> update)
      : update_(std::move(update)) {}

  void prepare(const std::vector<ParameterTurn>& turns) { turns_ = turns; }

  template <class T>
  void update(std::size_t parameter, double l2, double average_gain, const UpdateSpan<T>& span) {
    alignas(64) T with_l2[kSpanElements];
    for (std::int64_t done = 0; done < span.count; done += kSpanElements) {
      const std::int64_t count = std::min(kSpanElements, span.count - done);
      const T* gradient = span.gradient + done;
      if (l2 != 0) {
        scale_span(with_l2, gradient, T{1}, count);
        add_span(with_l2, span.parameter + done, static_cast<T>(l2), count);
        gradient = with_l2;
      }
      update_->run(block_of(turns_[parameter], span, gradient, done, count));
    }
    if (span.average != nullptr) update_span(AverageStep{}, 0, average_gain, span);
  }

 private:
  template <class T>
  static ElementBlock<T> block_of(const ParameterTurn& turn, const UpdateSpan<T>& span,
                                  const T* gradient, std::int64_t done, std::int64_t count) {
    ElementBlock<T> block{.count = count,
                          .parameter = span.parameter + done,
                          .gradient = gradient,
                          .state = {},
                          .learning_rate = turn.learning_rate,
                          .weight_decay = turn.weight_decay,
                          .update = turn.update};
    for (std::size_t i = 0; i < block.state.size(); ++i) {
      if (span.state[i] != nullptr) block.state[i] = span.state[i] + done;
    }
    return block;
  }

  std::shared_ptr<const detail::ElementUpdate> update_;
  std::vector<ParameterTurn> turns_;
};

/// Each share updates the parameters whose first block is in it.
class WholeUpdater final : public OptimizerPass {
 public:
  WholeUpdater(const std::vector<NamedTensor>& parameters,
               std::shared_ptr<const detail::WholeUpdate> update, const UpdateOptions& options)
      : OptimizerPass(parameters, checked_traits(update->traits), options, {}),
        update_(std::move(update)) {}

  void run_share(int share, int shares) override {
    const at::NoGradGuard no_grad;
    const auto [begin, end] = plan_.share(share, shares);
    for (std::size_t i = begin; i < end; ++i) {
      const Block& block = plan_.blocks()[i];
      if (block.begin == 0) update(block.parameter);
    }
  }

  bool changes_by_blocks() const override { return false; }

 private:
  void prepare(const std::vector<ParameterTurn>& turns) override { turns_ = turns; }

  void update(std::size_t i) {
    const auto& [name, tensor] = parameters_[i];
    const at::Tensor parameter = tensor.detach();
    if (turns_[i].used) {
      std::vector<at::Tensor> state;
      for (std::size_t slot = 0; slot < state_.slots(); ++slot)
        state.push_back(shaped(state_.tensor(i, slot), parameter));
      update_->run({.name = name,
                    .parameter = parameter,
                    .gradient = gradient_of(i, parameter),
                    .state = std::move(state),
                    .learning_rate = turns_[i].learning_rate,
                    .weight_decay = turns_[i].weight_decay,
                    .update = turns_[i].update});
    }
    if (state_.has_averages()) shaped(state_.average(i), parameter).lerp_(parameter, average_gain_);
  }

  /// A vector of all elements, as they lie in memory, in the shape of the parameter.
  static at::Tensor shaped(const at::Tensor& elements, const at::Tensor& parameter) {
    return elements.as_strided(parameter.sizes(), parameter.strides());
  }

  at::Tensor gradient_of(std::size_t i, const at::Tensor& parameter) const {
    const ParameterGradient& gradient = gradients_->parameters[i];
    at::Tensor sum;
    if (gradient.form == ParameterGradient::Form::summed) {
      sum = summed_on(gradient, parameter.device()) * gradients_->weights.front();
    } else {
      const at::Tensor elements =
          combined_elements(gradient, gradients_->weights, row_elements(parameter),
                            {0, parameter.numel()}, parameter.scalar_type());
      sum = shaped(elements, parameter).to(parameter.device());
    }
    if (const double l2 = l2_of(i); l2 != 0) sum.add_(parameter, l2);
    return sum;
  }

  const std::shared_ptr<const detail::WholeUpdate> update_;
  std::vector<ParameterTurn> turns_;
};

}  // namespace

std::unique_ptr<PartUpdater> make_element_updater(
    const std::vector<NamedTensor>& parameters, std::shared_ptr<const detail::ElementUpdate> update,
    const UpdateOptions& options, UpdatePart part) {
  check(options);
  for (const auto& [name, tensor] : parameters) {
    if (tensor.is_cpu()) continue;
    throw UsageError("a formula for elements computes in CPU memory, but '" + name + "' is on " +
                     tensor.device().str() +
                     "; place parameters host, or write a formula for whole parameters");
  }
  check_parameters(parameters);
  OptimizerTraits traits = checked_traits(update->traits);
  return std::make_unique<FusedPass<ElementKernel>>(ElementKernel(std::move(update)), parameters,
                                                    std::move(traits), options, part);
}

std::unique_ptr<PartUpdater> make_whole_updater(const std::vector<NamedTensor>& parameters,
                                                std::shared_ptr<const detail::WholeUpdate> update,
                                                const UpdateOptions& options, UpdatePart part) {
  check(options);
  if (part.count != 1) {
    throw UsageError(
        "a formula for whole parameters cannot update the shares that spread placement cuts them "
        "into; place parameters shared, host or mirrored");
  }
  if (options.rows == RowUpdate::lazy) {
    throw UsageError(
        "a formula for whole parameters updates all rows; lazy rows need a formula for elements");
  }
  if (!parameters.empty()) check_parameters(parameters, parameters.front().tensor.device());
  return std::make_unique<WholeUpdater>(parameters, std::move(update), options);
}

}  // namespace pagoda
