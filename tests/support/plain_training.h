#pragma once

// Training on one device with LibTorch alone: what towers must equal.

#include <pagoda/optim/optimizer_options.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/train/sync_step.h>

#include <cmath>
#include <memory>
#include <variant>
#include <vector>

#include <torch/torch.h>

#include "support/small_models.h"

namespace pagoda::testing {

/// LibTorch's own optimizer with the same options; only constant learning rates.
struct TorchOptimizer {
  using Made = std::unique_ptr<torch::optim::Optimizer>;
  std::vector<at::Tensor> parameters;

  Made operator()(const Sgd& o) const {
    return std::make_unique<torch::optim::SGD>(parameters,
                                               torch::optim::SGDOptions(o.learning_rate.at(0))
                                                   .momentum(o.momentum)
                                                   .dampening(o.dampening)
                                                   .nesterov(o.nesterov));
  }
  Made operator()(const Adam& o) const {
    return std::make_unique<torch::optim::Adam>(
        parameters,
        torch::optim::AdamOptions(o.learning_rate.at(0)).betas({o.beta1, o.beta2}).eps(o.epsilon));
  }
  Made operator()(const AdamW& o) const {
    return std::make_unique<torch::optim::AdamW>(parameters,
                                                 torch::optim::AdamWOptions(o.learning_rate.at(0))
                                                     .betas({o.beta1, o.beta2})
                                                     .eps(o.epsilon)
                                                     .weight_decay(o.weight_decay));
  }
  Made operator()(const Adagrad& o) const {
    return std::make_unique<torch::optim::Adagrad>(
        parameters, torch::optim::AdagradOptions(o.learning_rate.at(0))
                        .lr_decay(o.rate_decay)
                        .initial_accumulator_value(o.initial_accumulator)
                        .eps(o.epsilon));
  }
  Made operator()(const RmsProp& o) const {
    return std::make_unique<torch::optim::RMSprop>(
        parameters, torch::optim::RMSpropOptions(o.learning_rate.at(0))
                        .alpha(o.alpha)
                        .eps(o.epsilon)
                        .momentum(o.momentum)
                        .centered(o.centered));
  }
};

inline std::vector<at::Tensor> trainable_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : table_of(module).trainable) tensors.push_back(entry.tensor);
  return tensors;
}

/// Scales the gradients down to a norm of at most `max_norm` over all of them.
inline void clip_gradients(const std::vector<at::Tensor>& parameters, double max_norm) {
  double squares = 0;
  for (const auto& p : parameters) {
    if (p.grad().defined()) squares += p.grad().square().sum().item<double>();
  }
  for (const auto& p : parameters) {
    if (p.grad().defined() && std::sqrt(squares) > max_norm)
      p.grad().mul_(max_norm / std::sqrt(squares));
  }
}

/// Takes the whole batch at once. L2 really stands in the loss.
template <class Model>
class PlainTraining {
 public:
  PlainTraining(Model model, const OptimizerOptions& optimizer, const StepOptions& options)
      : model_(std::move(model)),
        options_(options),
        parameters_(trainable_of(*model_)),
        optimizer_(std::visit(TorchOptimizer{parameters_}, optimizer)) {
    for (const auto& p : parameters_) averages_.push_back(p.detach().clone());
  }

  /// Returns the loss without the L2 term.
  double step(const Batch& batch) {
    optimizer_->zero_grad();
    const at::Tensor loss = MeanSquare()(model_, batch);
    at::Tensor with_l2 = loss;
    for (const auto& p : parameters_) {
      if (decays(options_.decay_scope, p)) with_l2 = with_l2 + options_.l2 / 2 * p.square().sum();
    }
    (options_.l2 == 0 ? loss : with_l2).backward();
    if (options_.max_grad_norm) clip_gradients(parameters_, *options_.max_grad_norm);
    optimizer_->step();
    ++steps_;
    if (options_.moving_average) follow(options_.moving_average->decay);
    return loss.template item<double>();
  }

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  /// The moving averages; none without the option.
  std::vector<at::Tensor> averages() const {
    return options_.moving_average ? averages_ : std::vector<at::Tensor>();
  }

 private:
  void follow(double decay) {
    if (options_.moving_average->num_updates_rule) {
      decay = std::min(decay, (1.0 + steps_) / (10.0 + steps_));
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      averages_[i] = decay * averages_[i] + (1 - decay) * parameters_[i].detach();
    }
  }

  Model model_;
  const StepOptions options_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> averages_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  int steps_ = 0;
};

}  // namespace pagoda::testing
