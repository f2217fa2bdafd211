#include "optim/torch_updater.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <cstring>

#include <ATen/ops/empty_like.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>

#include "optim/combined_gradient.h"
#include "optim/optimizer_traits.h"
#include "optim/torch_optimizer_archive.h"
#include "params/block_plan.h"
#include "params/gradient_visit.h"

namespace pagoda {
namespace {

class TorchUpdater final : public Updater {
 public:
  TorchUpdater(const std::vector<NamedTensor>& parameters, torch::optim::Optimizer& optimizer,
               const UpdateOptions& options, std::optional<LearningRate> learning_rate)
      : parameters_(parameters),
        optimizer_(optimizer),
        options_(options),
        learning_rate_(std::move(learning_rate)),
        plan_(parameters),
        settings_(own_settings(options.rules)),
        combined_(parameters.size()) {
    if (learning_rate_) note_rates();
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
        combined_[i] = combined_sparse(parameter, gradients.parameters[i], gradients.weights);
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
    if (learning_rate_) set_rates();
    optimizer_.step();
    for (const auto& entry : parameters_) entry.tensor.mutable_grad().reset();
    for (std::size_t i = 0; i < averages_.size(); ++i) {
      const double decay = options_.moving_average->decay_at(scalars_.update + 1);
      averages_[i].lerp_(parameters_[i].tensor.detach(), 1 - decay);
    }
  }

  bool changes_by_blocks() const override { return false; }

  void set_rules(const std::vector<ParameterRule>& rules) override {
    settings_ = own_settings(rules);
  }

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
  std::vector<ParameterSettings> own_settings(const std::vector<ParameterRule>& rules) const {
    for (const ParameterRule& rule : rules) {
      if (!rule.rate_factor && !rule.weight_decay) continue;
      throw UsageError("the rule for '" + rule.names +
                       "' gives a rate factor or a weight decay, but a torch::optim::Optimizer has "
                       "those in groups of its own; put them there");
    }
    UpdateOptions options = options_;
    options.rules = rules;
    return settings_of(parameters_, options, {.name = "it", .learning_rate = 0});
  }

  /// The groups' rates before the schedule has changed any.
  void note_rates() {
    const auto& groups = optimizer_.param_groups();
    for (std::size_t i = rates_.size(); i < groups.size(); ++i)
      rates_.push_back(groups[i].options().get_lr());
    const bool same = std::all_of(rates_.begin(), rates_.end(),
                                  [&](double rate) { return rate == rates_.front(); });
    scaled_ = !same;
    if (scaled_ && learning_rate_->base() == 0) {
      throw UsageError(
          "the groups of the torch::optim::Optimizer have different rates, which a schedule scales "
          "by its rate over its base, and the base is 0; it must be above 0");
    }
  }

  void set_rates() {
    note_rates();  // of groups that were added meanwhile
    auto& groups = optimizer_.param_groups();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const double factor = scaled_ ? rates_[i] / learning_rate_->base() : 1;
      groups[i].options().set_lr(scalars_.learning_rate * factor);
    }
  }

  double l2_of(std::size_t parameter) const { return settings_[parameter].l2 * scalars_.l2_scale; }

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
  std::vector<ParameterSettings> settings_;  // by parameter
  std::vector<double> rates_;                // of the groups, as the optimizer was built
  bool scaled_ = false;                      // they differ, and the schedule scales them
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
