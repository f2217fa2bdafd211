#include <pagoda/base/error.h>
#include <pagoda/tower/replicas.h>

#include <set>
#include <string>
#include <utility>

#include <ATen/MemoryOverlap.h>
#include <torch/nn/module.h>

#include "tower/batch_norm_exchange.h"
#include "tower/feed_copies.h"
#include "tower/parameter_copies.h"
#include "tower/replica_use.h"

namespace pagoda {
namespace {

/// Gives the tensor this layout, in place, as an optimizer step would: the handle stays the same.
void set_layout(const at::Tensor& parameter, ImageFormat format) {
  const at::Tensor data = parameter.detach();
  if (format == ImageFormat::channels_last && data.dim() == 4) {
    parameter.set_data(data.contiguous(at::MemoryFormat::ChannelsLast));
  } else if (!data.is_non_overlapping_and_dense()) {
    parameter.set_data(data.contiguous());
  }
}

/// A buffer may be one number expanded to many places, which cannot be written; it gets memory of
/// its own.
void make_writable(const at::Tensor& buffer) {
  if (at::has_internal_overlap(buffer) == at::MemOverlap::Yes) buffer.set_data(buffer.contiguous());
}

/// LibTorch has one thread a card for backward: two towers on it would wait for each other in vain.
void check_own_cards(const std::vector<Device>& devices) {
  std::set<std::string> cards;
  for (const Device& device : devices) {
    if (device.kind == DeviceKind::cpu || cards.insert(device.torch_device().str()).second)
      continue;
    throw UsageError("two towers are on " + device.label() +
                     ", where BatchNorm over all towers needs a card for each; leave one out, or "
                     "switch TowerOptions::sync_batch_norm off");
  }
}

}  // namespace

Replicas::Replicas(std::vector<Device> devices, const TowerOptions& options)
    : devices_(std::move(devices)),
      options_(options),
      copies_(std::make_unique<ParameterCopies>(devices_,
                                                resolve_placement(devices_, options.placement))),
      use_(std::make_unique<ReplicaUse>()),
      feed_copies_(std::make_unique<FeedCopies>(devices_)),
      modules_(devices_.size()),
      tables_(devices_.size()) {
  if (options_.timeout.count() < 1) {
    throw UsageError("the time of a tower's phase is " + std::to_string(options_.timeout.count()) +
                     " ms; it must be at least 1");
  }
  if (!options_.sync_batch_norm) return;
  check_own_cards(devices_);
  batch_norm_ = std::make_shared<BatchNormExchange>(size(), options_.timeout);
}

Replicas::~Replicas() = default;

const ParameterTable& Replicas::master() const { return copies_->master(); }

ParameterPlacement Replicas::placement() const { return copies_->placement(); }

at::Tensor Replicas::on_tower(const at::Tensor& tensor, int tower) const {
  if (!tensor.defined()) return tensor;
  if (!tensor.is_cpu()) feed_copies_->take(tensor);
  at::Tensor moved =
      tensor.to(device(tower).torch_device(), tensor.scalar_type(), /*non_blocking=*/true);
  const bool image = moved.dim() == 4 && moved.is_floating_point();
  if (!image || options_.image_format == ImageFormat::contiguous) return moved;
  return moved.contiguous(at::MemoryFormat::ChannelsLast);
}

void Replicas::build(int tower, const ModelFactory& factory) {
  const auto module = factory(tower);
  if (!module) throw UsageError("the model factory returned no model");
  if (!options_.factory_places) module->to(device(tower).torch_device());
  const ParameterTable own = table_of(*module);
  for (const auto* list : {&own.trainable, &own.frozen}) {
    for (const auto& entry : *list) set_layout(entry.tensor, options_.image_format);
  }
  for (const auto& entry : own.buffers) make_writable(entry.tensor);
  if (tower > 0) {
    check_same_layout(table(0), own, "tower " + std::to_string(tower));
    copies_->adopt(tower, own);
  }
  modules_[static_cast<std::size_t>(tower)] = module;
  tables_[static_cast<std::size_t>(tower)] = own;
}

void check_requires_grad(const Replicas& replicas) {
  const ParameterTable& first = replicas.table(0);
  for (int tower = 0; tower < replicas.size(); ++tower) {
    const ParameterTable& own = replicas.table(tower);
    for (std::size_t i = 0; i < own.trainable.size(); ++i) {
      if (own.trainable[i].tensor.requires_grad() == first.trainable[i].tensor.requires_grad())
        continue;
      throw UsageError("parameter '" + own.trainable[i].name +
                       "' requires a gradient on some towers only (tower " + std::to_string(tower) +
                       " differs from tower 0); freeze it on all of them, or by a rule");
    }
    for (const auto& entry : own.frozen) {
      if (!entry.tensor.requires_grad()) continue;
      throw UsageError("parameter '" + entry.name +
                       "' was frozen when the towers were built and requires a gradient now, but "
                       "no step trains it; build the towers with it and freeze it by a rule");
    }
  }
}

}  // namespace pagoda
