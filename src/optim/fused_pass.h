#pragma once

#include <utility>

#include "optim/optimizer_pass.h"
#include "optim/update_kernels.h"

namespace pagoda {

/// One pass over the parameters in CPU memory that sums the towers' gradients, block by block in the
/// cache, and lets a kernel update parameter, state and moving average by them.
///
/// The kernel has `prepare(turns)` and `update(parameter, l2, average_gain, span)`.
template <class Kernel>
class FusedPass final : public OptimizerPass {
 public:
  FusedPass(Kernel kernel, const std::vector<NamedTensor>& parameters, OptimizerTraits optimizer,
            const UpdateOptions& options, UpdatePart part)
      : OptimizerPass(parameters, std::move(optimizer), options, part),
        kernel_(std::move(kernel)) {}

  void run_share(int share, int shares) override {
    const auto [begin, end] = plan_.share(part_.number * shares + share, part_.count * shares);
    for (std::size_t i = begin; i < end; ++i) {
      const Block& block = plan_.blocks()[i];
      if (parameters_[block.parameter].tensor.scalar_type() == at::kFloat) {
        run_block<float>(block);
      } else {
        run_block<double>(block);
      }
    }
  }

 private:
  void prepare(const std::vector<ParameterTurn>& turns) override { kernel_.prepare(turns); }

  template <class T>
  UpdateSpan<T> span_of(std::size_t parameter, std::int64_t offset, std::int64_t count,
                        const T* gradient) {
    const std::int64_t held = offset - state_.range(parameter).begin;
    UpdateSpan<T> span{};
    span.parameter = parameters_[parameter].tensor.template data_ptr<T>() + offset;
    for (std::size_t i = 0; i < state_.slots(); ++i) {
      span.state[i] = state_.tensor(parameter, i).template data_ptr<T>() + held;
    }
    if (state_.has_averages())
      span.average = state_.average(parameter).template data_ptr<T>() + held;
    span.gradient = gradient;
    span.count = count;
    return span;
  }

  template <class T>
  void average_only(std::size_t parameter, std::int64_t begin, std::int64_t end) {
    if (!state_.has_averages() || begin == end) return;
    update_span(AverageStep{}, 0, average_gain_,
                span_of<T>(parameter, begin, end - begin, nullptr));
  }

  template <class T>
  void run_block(const Block& block) {
    const double l2 = l2_of(block.parameter);
    std::int64_t done = block.begin;
    visit_gradient<T>(gradients_->parameters[block.parameter], gradients_->weights,
                      row_elements(parameters_[block.parameter].tensor), block.begin, block.end,
                      sweep_of(block.parameter),
                      [&](std::int64_t offset, std::int64_t count, const T* values) {
                        average_only<T>(block.parameter, done, offset);
                        kernel_.update(block.parameter, l2, average_gain_,
                                       span_of<T>(block.parameter, offset, count, values));
                        done = offset + count;
                      });
    average_only<T>(block.parameter, done, block.end);
  }

  Kernel kernel_;
};

}  // namespace pagoda
