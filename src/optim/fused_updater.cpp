#include "optim/fused_updater.h"

#include "optim/optimizer_pass.h"
#include "optim/update_kernels.h"

namespace pagoda {
namespace {

class FusedUpdater final : public OptimizerPass {
 public:
  using OptimizerPass::OptimizerPass;

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
  template <class T>
  UpdateSpan<T> span_of(std::size_t parameter, std::int64_t offset, std::int64_t count,
                        const T* gradient) {
    const std::int64_t held = offset - state_.range(parameter).begin;
    UpdateSpan<T> span{};
    span.parameter = parameters_[parameter].tensor.data_ptr<T>() + offset;
    for (std::size_t i = 0; i < state_.slots(); ++i) {
      span.state[i] = state_.tensor(parameter, i).data_ptr<T>() + held;
    }
    if (state_.has_averages()) span.average = state_.average(parameter).data_ptr<T>() + held;
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
                        update_span(steps_[block.parameter], l2, average_gain_,
                                    span_of<T>(block.parameter, offset, count, values));
                        done = offset + count;
                      });
    average_only<T>(block.parameter, done, block.end);
  }
};

}  // namespace

std::unique_ptr<PartUpdater> make_fused_part(const std::vector<NamedTensor>& parameters,
                                             const OptimizerOptions& optimizer,
                                             const UpdateOptions& options, UpdatePart part) {
  check(optimizer);
  check(options);
  check_parameters(parameters);
  return std::make_unique<FusedUpdater>(parameters, optimizer, options, part);
}

std::unique_ptr<Updater> make_fused_updater(const std::vector<NamedTensor>& parameters,
                                            const OptimizerOptions& optimizer,
                                            const UpdateOptions& options) {
  return make_fused_part(parameters, optimizer, options, {});
}

}  // namespace pagoda
