#include "optim/torch_updater.h"

#include <pagoda/base/error.h>

#include <cstring>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>

#include "optim/combined_gradient.h"
#include "optim/torch_optimizer_archive.h"
#include "params/block_plan.h"
#include "params/gradient_visit.h"

namespace pagoda {
namespace {

/// The combined gradient of a row-sparse parameter as a sparse tensor.
at::Tensor sparse_gradient(const at::Tensor& parameter, const ParameterGradient& gradient,
                           const std::vector<double>& weights) {
  const CombinedRows rows = combined_rows(gradient, weights, row_elements(parameter),
                                          {0, parameter.numel()}, parameter.scalar_type());
  std::vector<std::int64_t> shape = parameter.sizes().vec();
  shape[0] = rows.numbers.numel();
  return at::sparse_coo_tensor(rows.numbers.unsqueeze(0), rows.values.view(shape),
                               parameter.sizes(), parameter.options().layout(at::kSparse), true);
}

class TorchUpdater final : public Updater {
 public:
  TorchUpdater(const std::vector<NamedTensor>& parameters, torch::optim::Optimizer& optimizer,
               const UpdateOptions& options, std::optional<LearningRate> learning_rate)
      : parameters_(parameters),
        optimizer_(optimizer),
        options_(options),
        learning_rate_(std::move(learning_rate)),
        plan_(parameters),
        combined_(parameters.size()) {
    if (!options.moving_average) return;
    for (const auto& entry : parameters) averages_.push_back(entry.tensor.detach().clone());
  }

  void begin(const GradientView& gradients, const UpdateScalars& scalars) override {
    gradients_ = &gradients;
    scalars_ = scalars;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor parameter = parameters_[i].tensor.detach();
      if (gradients.parameters[i].form == ParameterGradient::Form::none) {
        combined_[i].reset();
      } else if (becomes_dense(i)) {
        if (!combined_[i].defined() || combined_[i].is_sparse())
          combined_[i] = at::empty_like(parameter);
      } else {
        combined_[i] = sparse_gradient(parameter, gradients.parameters[i], gradients.weights);
      }
    }
  }

  void run_share(int share, int shares) override {
    const auto [begin, end] = plan_.share(share, shares);
    for (std::size_t i = begin; i < end; ++i) {
      const Block& block = plan_.blocks()[i];
      if (!becomes_dense(block.parameter)) continue;
      if (combined_[block.parameter].scalar_type() == at::kFloat) {
        combine_block<float>(block);
      } else {
        combine_block<double>(block);
      }
    }
  }

  void end() override {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      parameters_[i].tensor.mutable_grad() = combined_[i];
    if (learning_rate_) {
      for (auto& group : optimizer_.param_groups()) group.options().set_lr(scalars_.learning_rate);
    }
    optimizer_.step();
    for (const auto& entry : parameters_) entry.tensor.mutable_grad().reset();
    for (std::size_t i = 0; i < averages_.size(); ++i) {
      const double decay = options_.moving_average->decay_at(scalars_.update + 1);
      averages_[i].lerp_(parameters_[i].tensor.detach(), 1 - decay);
    }
  }

  bool changes_at_end() const override { return true; }

  double learning_rate(std::int64_t update) const override {
    if (learning_rate_) return learning_rate_->at(update);
    const auto& groups = optimizer_.param_groups();
    return groups.empty() ? 0 : groups.front().options().get_lr();
  }

  UpdaterState state() const override {
    return {.optimizer = {},
            .torch_optimizer = archive_of(optimizer_, parameters_),
            .averages = averages()};
  }

  void load(const UpdaterState& state) override {
    load_archive(optimizer_, parameters_, state.torch_optimizer);
    for (std::size_t i = 0; i < averages_.size(); ++i) averages_[i].copy_(state.averages[i]);
  }

  std::vector<at::Tensor> averages() const override {
    std::vector<at::Tensor> copies;
    for (const auto& average : averages_) copies.push_back(average.clone());
    return copies;
  }

 private:
  double l2_of(std::size_t parameter) const {
    return decays(options_.decay_scope, parameters_[parameter].tensor)
               ? options_.l2 * scalars_.l2_scale
               : 0;
  }

  /// L2 gives every row a gradient.
  bool becomes_dense(std::size_t parameter) const {
    const auto form = gradients_->parameters[parameter].form;
    return form == ParameterGradient::Form::dense ||
           (form == ParameterGradient::Form::rows && l2_of(parameter) != 0);
  }

  template <class T>
  void combine_block(const Block& block) {
    const at::Tensor& parameter = parameters_[block.parameter].tensor;
    const T l2 = static_cast<T>(l2_of(block.parameter));
    const T* values = parameter.const_data_ptr<T>();
    T* out = combined_[block.parameter].mutable_data_ptr<T>();
    visit_gradient<T>(gradients_->parameters[block.parameter], gradients_->weights,
                      row_elements(parameter), block.begin, block.end, Sweep::all,
                      [&](std::int64_t offset, std::int64_t count, const T* sum) {
                        std::memcpy(out + offset, sum, static_cast<std::size_t>(count) * sizeof(T));
                        if (l2 != 0) add_span(out + offset, values + offset, l2, count);
                      });
  }

  const std::vector<NamedTensor> parameters_;
  torch::optim::Optimizer& optimizer_;
  const UpdateOptions options_;
  const std::optional<LearningRate> learning_rate_;
  const BlockPlan plan_;
  std::vector<at::Tensor> averages_;
  std::vector<at::Tensor> combined_;

  // Constant while shares run.
  const GradientView* gradients_ = nullptr;
  UpdateScalars scalars_;
};

}  // namespace

std::unique_ptr<Updater> make_torch_updater(const std::vector<NamedTensor>& parameters,
                                            torch::optim::Optimizer& optimizer,
                                            const UpdateOptions& options,
                                            std::optional<LearningRate> learning_rate) {
  if (dynamic_cast<torch::optim::LBFGS*>(&optimizer) != nullptr) {
    throw UsageError(
        "torch::optim::LBFGS computes the loss several times a step, which towers cannot do for "
        "it; use an optimizer whose step() needs no closure");
  }
  check(options);
  check_parameters(parameters);
  return std::make_unique<TorchUpdater>(parameters, optimizer, options, std::move(learning_rate));
}

}  // namespace pagoda
