#pragma once

#include <pagoda/train/sync_step.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "model/made_up_task.h"
#include "model/model_measuring.h"

namespace pagoda::app {

/// The feeds of one step of a trial.
template <class Model, Feed F>
std::vector<F> trial_feeds(const MadeUpTask<Model, F>& task, const TrialOptions& options,
                           std::int64_t step) {
  at::Generator random = sample_stream(options.seed + static_cast<std::uint64_t>(step));
  std::vector<F> feeds;
  for (std::int64_t i = 0; i < options.feeds; ++i)
    feeds.push_back(task.feed(options.batch_size, step, random));
  if (options.joined) feeds = {task.join(feeds)};
  for (F& feed : feeds) {
    feed = feed.with_tensors([&](const at::Tensor& tensor) {
      return tensor.is_floating_point() ? tensor.to(options.type) : tensor;
    });
  }
  return feeds;
}

/// The parameters after the steps of a trial, one tower for each device.
template <class Model, Feed F>
std::vector<at::Tensor> run_trial(const std::vector<Device>& devices,
                                  const MadeUpTask<Model, F>& task, const TrialOptions& options) {
  const auto make_model = [make = task.model, type = options.type, dropout = options.dropout] {
    Model model = make(dropout);
    model->to(type);
    return model;
  };
  auto towers =
      make_towers(devices, make_model, {.seed = options.seed, .placement = options.placement});
  const OptimizerChoice& optimizer = options.optimizer;
  SyncStep step(
      towers, chosen_optimizer(optimizer, options.steps),
      {.max_grad_norm = optimizer.max_grad_norm > 0 ? std::optional<double>(optimizer.max_grad_norm)
                                                    : std::nullopt,
       .l2 = optimizer.l2,
       .parameter_rules = chosen_rules(optimizer),
       .rows = task.step.rows});
  for (std::int64_t i = 0; i < options.steps; ++i)
    step.run(trial_feeds(task, options, i), task.score);
  std::vector<at::Tensor> values;
  for (const auto& parameter : towers.parameters()) values.push_back(parameter.detach().clone());
  return values;
}

}  // namespace pagoda::app
