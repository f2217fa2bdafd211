#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/optim/updater.h>
#include <pagoda/tower/tower_group.h>
#include <pagoda/train/snapshot.h>

#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include "tower/replica_use.h"

namespace pagoda {
namespace {

/// Contiguous, so that Python and other layouts can read it; a copy, so that training can go on.
at::Tensor copy_of(const at::Tensor& tensor) {
  return at::empty(tensor.sizes(),
                   tensor.options().device(at::kCPU).memory_format(at::MemoryFormat::Contiguous))
      .copy_(tensor.detach());
}

std::vector<NamedTensor> copies_of(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : tensors) copies.push_back({name, copy_of(tensor)});
  return copies;
}

std::vector<NamedTensor> named_averages(const TowerGroup& towers,
                                        const std::vector<at::Tensor>& averages) {
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < averages.size(); ++i)
    named.push_back({towers.master().trainable[i].name, averages[i]});
  return named;
}

/// For tensors that are copies already.
std::vector<NamedTensor> contiguous(std::vector<NamedTensor> tensors) {
  for (auto& entry : tensors) entry.tensor = entry.tensor.contiguous();
  return tensors;
}

[[noreturn]] void refuse(const Checkpoint& checkpoint, const std::string& list) {
  throw DataError("the checkpoint of step " + std::to_string(checkpoint.state.step) +
                  " does not fit this run:" + list);
}

/// Changes nothing when it throws.
void load_updater(Updater& updater, const UpdaterState& state, const Checkpoint& checkpoint) {
  try {
    updater.load(state);
  } catch (const DataError& error) {
    refuse(checkpoint, "\n  optimizer: " + std::string(error.what()));
  }
}

}  // namespace

Checkpoint snapshot(const TowerGroup& towers, Step& step, const RunState& state,
                    std::string config) {
  step.finish();
  check_free(towers.replicas()->use(), nullptr, "a snapshot");
  const UpdaterState updater = step.updater().state();
  RunState own = state;
  own.loss_scale = step.loss_scale();
  return {.model = copies_of(state_dict(towers.module(0))),
          .average = contiguous(named_averages(towers, updater.averages)),
          .optimizer = contiguous(updater.optimizer),
          .torch_optimizer = updater.torch_optimizer,
          .exchange = contiguous(step.exchange_state()),
          .state = own,
          .seed = towers.options().seed,
          .towers = towers.size(),
          .config = std::move(config)};
}

RunState restore(const Checkpoint& checkpoint, TowerGroup& towers, Step& step) {
  step.finish();
  check_free(towers.replicas()->use(), nullptr, "restoring a checkpoint");
  const auto model = state_dict(towers.module(0));
  UpdaterState updater = step.updater().state();
  const auto average = named_averages(towers, updater.averages);
  std::string list = differences(model, checkpoint.model) +
                     differences(average, checkpoint.average) +
                     differences(updater.optimizer, checkpoint.optimizer);
  if (checkpoint.torch_optimizer.defined() && !updater.torch_optimizer.defined())
    list += "\n  optimizer: a torch::optim::Optimizer in the file, a built-in one in this run";
  if (!list.empty()) refuse(checkpoint, list);
  assign(average, checkpoint.average);
  assign(updater.optimizer, checkpoint.optimizer);
  updater.torch_optimizer = checkpoint.torch_optimizer;
  load_updater(step.updater(), updater, checkpoint);
  assign(model, checkpoint.model);
  step.set_count(checkpoint.state.step);
  step.set_rate_factor(checkpoint.state.rate_factor);
  step.set_loss_scale(checkpoint.state.loss_scale);
  step.load_exchange(checkpoint.exchange);
  adopt_first(towers);
  step.refresh_towers();
  return checkpoint.state;
}

}  // namespace pagoda
