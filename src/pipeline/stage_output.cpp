#include "pipeline/stage_output.h"

#include <pagoda/base/error.h>
#include <pagoda/params/parameter_table.h>

#include <string>
#include <unordered_set>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/nn/module.h>

namespace pagoda {
namespace {

using TensorSet = std::unordered_set<const c10::TensorImpl*>;

TensorSet set_of(const Tensors& tensors) {
  TensorSet all;
  for (const auto& tensor : tensors) all.insert(tensor.unsafeGetTensorImpl());
  return all;
}

void check_like(const Layer& copy, const Layer& own) {
  bool alike = copy.tensors.size() == own.tensors.size();
  for (std::size_t i = 0; alike && i < own.tensors.size(); ++i) {
    alike = copy.tensors[i].sizes() == own.tensors[i].sizes() &&
            copy.tensors[i].scalar_type() == own.tensors[i].scalar_type();
  }
  if (!alike) {
    throw UsageError("the model factory gave models whose last layers '" + own.name + "' and '" +
                     copy.name +
                     "' have different tensors; it must build the same model each time");
  }
}

/// Every module of `to` computes in the mode of its like in `from`.
void copy_modes(const torch::nn::Module& from, torch::nn::Module& to) {
  const auto modes = from.modules();
  const auto copies = to.modules();
  for (std::size_t i = 0; i < modes.size() && i < copies.size(); ++i) {
    if (copies[i]->is_training() != modes[i]->is_training())
      copies[i]->train(modes[i]->is_training());
  }
}

}  // namespace

void split_output(StagedReplica& replica) {
  auto& layers = replica.stages.back().layers;
  const TensorSet own = set_of(layers.back().tensors);
  for (const auto& buffer : table_of(*replica.model).buffers) {
    if (!own.contains(buffer.tensor.unsafeGetTensorImpl())) continue;
    throw UsageError("the output layer '" + layers.back().name + "' has the buffer '" +
                     buffer.name +
                     "', which every stage would change for itself; leave it on the last stage");
  }
  replica.outputs.resize(replica.stages.size());
  replica.outputs.back() = {replica.model, std::move(layers.back())};
  layers.pop_back();
}

void add_output(StagedReplica& replica, int stage, std::shared_ptr<torch::nn::Module> model,
                Layer layer) {
  check_like(layer, replica.outputs.back().layer);
  const auto device = replica.stages[static_cast<std::size_t>(stage)].device.torch_device();
  const TensorSet kept = set_of(layer.tensors);
  const at::NoGradGuard no_grad;
  for (const auto& tensor : tensors_of(*model)) {
    tensor.set_data(kept.contains(tensor.unsafeGetTensorImpl()) ? tensor.detach().to(device)
                                                                : at::empty({0}, tensor.options()));
  }
  replica.outputs[static_cast<std::size_t>(stage)] = {std::move(model), std::move(layer)};
  renew_output(replica, stage);
}

void renew_output(const StagedReplica& replica, int stage) {
  const auto& [model, layer] = replica.outputs[static_cast<std::size_t>(stage)];
  const StageOutput& own = replica.outputs.back();
  if (model == own.model) return;
  copy_modes(*own.model, *model);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < layer.tensors.size(); ++i) {
    const at::Tensor& copy = layer.tensors[i];
    const at::Tensor& original = own.layer.tensors[i];
    copy.mutable_grad().reset();
    if (copy.requires_grad() != original.requires_grad())
      copy.set_requires_grad(original.requires_grad());
    if (copy.device() == original.device()) {
      copy.set_data(original.variable_data());
    } else {
      copy.copy_(original);
    }
  }
}

void add_gradients(const Tensors& tensors, const Tensors& gradients) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const at::Tensor more = gradients[i].to(tensors[i].device());
    at::Tensor& sum = tensors[i].mutable_grad();
    // Not in place: two gradients may share memory. LibTorch adds rows to a dense tensor only.
    if (!sum.defined()) {
      sum = more;
    } else {
      sum = sum.is_sparse() ? more + sum : sum + more;
    }
  }
}

}  // namespace pagoda
