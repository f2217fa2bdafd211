#include <pagoda/optim/fused_updater.h>
#include <pagoda/params/block_plan.h>

#include "optim/optimizer_state.h"
#include "optim/update_kernels.h"

namespace pagoda {
namespace {

class FusedUpdater final : public Updater {
 public:
  FusedUpdater(const std::vector<NamedTensor>& parameters, const OptimizerOptions& optimizer,
               const UpdateOptions& options)
      : parameters_(parameters),
        options_(options),
        state_(parameters, optimizer),
        plan_(parameters),
        steps_(parameters.size(), AverageStep{}) {
    if (!options.moving_average) return;
    for (const auto& entry : parameters) averages_.push_back(entry.tensor.detach().clone());
  }

  void begin(const GradientView& gradients, const UpdateScalars& scalars) override {
    gradients_ = &gradients;
    l2_ = options_.l2 * scalars.l2_scale;
    if (options_.moving_average) {
      average_gain_ = 1 - options_.moving_average->decay_at(scalars.update + 1);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const bool used = gradients.parameters[i].form != ParameterGradient::Form::none;
      steps_[i] =
          used ? state_.next_step(i, scalars.learning_rate, decays(i)) : UpdateStep{AverageStep{}};
    }
  }

  void run_share(int share, int shares) override {
    const auto [begin, end] = plan_.share(share, shares);
    for (std::size_t i = begin; i < end; ++i) {
      const Block& block = plan_.blocks()[i];
      if (parameters_[block.parameter].tensor.scalar_type() == at::kFloat) {
        run_block<float>(block);
      } else {
        run_block<double>(block);
      }
    }
  }

  double learning_rate(std::int64_t update) const override { return state_.learning_rate(update); }
  const std::vector<at::Tensor>& averages() const override { return averages_; }
  std::vector<NamedTensor> state() const override { return state_.tensors(); }

 private:
  bool decays(std::size_t parameter) const {
    return pagoda::decays(options_.decay_scope, parameters_[parameter].tensor);
  }

  template <class T>
  UpdateSpan<T> span_of(std::size_t parameter, std::int64_t offset, std::int64_t count,
                        const T* gradient) {
    UpdateSpan<T> span{};
    span.parameter = parameters_[parameter].tensor.data_ptr<T>() + offset;
    for (std::size_t i = 0; i < state_.slots(); ++i) {
      span.state[i] = state_.tensor(parameter, i).data_ptr<T>() + offset;
    }
    span.average = averages_.empty() ? nullptr : averages_[parameter].data_ptr<T>() + offset;
    span.gradient = gradient;
    span.count = count;
    return span;
  }

  template <class T>
  void average_only(std::size_t parameter, std::int64_t begin, std::int64_t end) {
    if (averages_.empty() || begin == end) return;
    update_span(AverageStep{}, 0, average_gain_,
                span_of<T>(parameter, begin, end - begin, nullptr));
  }

  template <class T>
  void run_block(const Block& block) {
    const ParameterGradient& gradient = gradients_->parameters[block.parameter];
    const double l2 = decays(block.parameter) ? l2_ : 0;
    const Sweep sweep = sweep_of(gradient, l2);
    std::int64_t done = block.begin;
    visit_gradient<T>(gradient, gradients_->weights,
                      row_elements(parameters_[block.parameter].tensor), block.begin, block.end,
                      sweep, [&](std::int64_t offset, std::int64_t count, const T* values) {
                        average_only<T>(block.parameter, done, offset);
                        update_span(steps_[block.parameter], l2, average_gain_,
                                    span_of<T>(block.parameter, offset, count, values));
                        done = offset + count;
                      });
    average_only<T>(block.parameter, done, block.end);
  }

  /// Rows without a gradient need no visit where the optimizer would leave them as they are.
  Sweep sweep_of(const ParameterGradient& gradient, double l2) const {
    if (gradient.form != ParameterGradient::Form::rows) return Sweep::all;
    if (options_.rows == RowUpdate::lazy) return Sweep::touched;
    return l2 == 0 && state_.rests_without_gradient() ? Sweep::touched : Sweep::all;
  }

  const std::vector<NamedTensor> parameters_;
  const UpdateOptions options_;
  OptimizerState state_;
  const BlockPlan plan_;
  std::vector<at::Tensor> averages_;

  // Constant while shares run.
  const GradientView* gradients_ = nullptr;
  double l2_ = 0;
  double average_gain_ = 0;
  std::vector<UpdateStep> steps_;
};

}  // namespace

std::unique_ptr<Updater> make_fused_updater(const std::vector<NamedTensor>& parameters,
                                            const OptimizerOptions& optimizer,
                                            const UpdateOptions& options) {
  check(optimizer);
  check(options);
  check_parameters(parameters);
  return std::make_unique<FusedUpdater>(parameters, optimizer, options);
}

}  // namespace pagoda
