#include <pagoda/base/error.h>
#include <pagoda/memory/memory_account.h>
#include <pagoda/sim/sim_cards.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/tower/tower_group.h>

#include <utility>

#include <ATen/DeviceAccelerator.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/record_function.h>
#include <torch/nn/module.h>

#include "memory/freed_memory.h"
#include "tower/tower_thread.h"

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

at::Tensor master_copy(const at::Tensor& parameter) {
  return parameter.detach()
      .to(at::kCPU, parameter.scalar_type(), /*non_blocking=*/false, /*copy=*/true)
      .requires_grad_(parameter.requires_grad());
}

std::vector<NamedTensor> master_copies(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : tensors) copies.push_back({name, master_copy(tensor)});
  return copies;
}

void alias(const std::vector<NamedTensor>& from, const std::vector<NamedTensor>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.set_data(from[i].tensor.detach());
}

bool is_interruption(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const TowerInterrupted&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// A mistake of the caller that only a tower could see stays a UsageError.
[[noreturn]] void throw_to_caller(const TowerError& error) {
  try {
    std::rethrow_exception(error.cause());
  } catch (const UsageError&) {
    throw UsageError(error.what());
  } catch (...) {
    throw error;
  }
}

}  // namespace

TowerGroup::TowerGroup(std::vector<Device> devices, const Factory& factory,
                       const TowerOptions& options)
    : devices_(std::move(devices)),
      options_(options),
      placement_(resolve_placement(devices_, options.placement)),
      streams_(options.seed),
      modules_(devices_.size()),
      tables_(devices_.size()),
      launched_(devices_.size()) {
  keep_freed_memory();
  for (const auto& device : devices_) claim_memory(device);
  for (int tower = 0; tower < size(); ++tower) {
    threads_.push_back(std::make_unique<TowerThread>(tower, device(tower)));
  }
  reset_memory_peaks();  // a card's may be that of an earlier group
  build(factory);
}

TowerGroup::~TowerGroup() = default;

void TowerGroup::build(const Factory& factory) {
  // Tower 0 first: the others take its values. With shared placement each of them gives up its own
  // parameters before the next is built.
  const auto build_these = [&](auto is_built) {
    run({.name = "construction"}, [&](TowerJob& job) {
      if (is_built(job.tower)) build_tower(job.tower, factory);
    });
  };
  build_these([](int tower) { return tower == 0; });
  own_master_ = placement_ == Placement::host || !share_memory(devices_);
  master_ = table(0);
  if (own_master_) {
    master_.trainable = master_copies(table(0).trainable);
    master_.frozen = master_copies(table(0).frozen);
  }
  const BlockPlan plan(master_.trainable);
  for (int tower = 0; tower < size(); ++tower) shares_.push_back(plan.ranges(tower, size()));
  if (placement_ == Placement::shared) {
    for (int next = 1; next < size(); ++next)
      build_these([next](int tower) { return tower == next; });
  } else {
    build_these([](int tower) { return tower > 0; });
  }
}

void TowerGroup::build_tower(int tower, const Factory& factory) {
  const auto index = static_cast<std::size_t>(tower);
  modules_[index] = factory(tower);
  if (!modules_[index]) throw UsageError("the model factory gave no model");
  if (!options_.factory_places) modules_[index]->to(device(tower).torch_device());
  tables_[index] = table_of(*modules_[index]);
  for (const auto* list : {&tables_[index].trainable, &tables_[index].frozen}) {
    for (const auto& entry : *list) set_layout(entry.tensor, options_.image_format);
  }
  for (const auto& entry : tables_[index].buffers) make_writable(entry.tensor);
  if (tower > 0) {
    check_same_layout(table(0), table(tower), "tower " + std::to_string(tower));
    adopt_parameters(tower);
  }
}

void TowerGroup::adopt_parameters(int tower) {
  const ParameterTable& own = table(tower);
  at::NoGradGuard no_grad;
  if (placement_ == Placement::shared) {
    alias(master_.trainable, own.trainable);
    alias(master_.frozen, own.frozen);
  } else {
    renew_parameters(tower);
    for (std::size_t i = 0; i < own.frozen.size(); ++i)
      own.frozen[i].tensor.copy_(master_.frozen[i].tensor);
  }
  for (std::size_t i = 0; i < own.buffers.size(); ++i) {
    own.buffers[i].tensor.copy_(table(0).buffers[i].tensor);
  }
}

std::vector<at::Tensor> TowerGroup::parameters() const {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : master_.trainable) tensors.push_back(entry.tensor);
  return tensors;
}

void TowerGroup::run(const Phase& phase, const std::function<void(TowerJob&)>& work) {
  await(0, size());
  // Shared with the towers: one that misses the deadline must not be left with dangling references.
  const auto shared_work = std::make_shared<const std::function<void(TowerJob&)>>(work);
  for (int tower = 0; tower < size(); ++tower) launch(tower, phase, shared_work);
  await(0, size());
}

void TowerGroup::start(int tower, const Phase& phase, const std::function<void(TowerJob&)>& work) {
  finish(tower);
  launch(tower, phase, std::make_shared<const std::function<void(TowerJob&)>>(work));
}

void TowerGroup::finish(int tower) { await(tower, tower + 1); }

void TowerGroup::launch(int tower, const Phase& phase,
                        std::shared_ptr<const std::function<void(TowerJob&)>> work) {
  std::optional<std::uint64_t> seed;
  if (phase.fresh_randomness) {
    seed = streams_.tower_step(phase.stream.value_or(tower), phase.step);
    if (device(tower).kind == DeviceKind::sim) note_sim_card_step(device(tower).index, phase.step);
  }
  const auto index = static_cast<std::size_t>(tower);
  if (modules_[index] == nullptr) seed = streams_.initialisation();
  const auto job = std::make_shared<TowerJob>(TowerJob{tower, phase.name});
  launched_[index] = Launched{job, phase};
  threads_[index]->start(
      [work = std::move(work), job, name = phase.name] {
        RECORD_USER_SCOPE(name);  // for traces; free when nobody records
        (*work)(*job);
      },
      seed);
}

void TowerGroup::await(int first, int last) {
  if (!broken_.empty()) throw DeviceError("the towers cannot be used any more: " + broken_);
  const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
  std::optional<TowerError> failed;
  std::string late;  // all of them: one may only be waiting for another's gradients
  std::string unfinished;
  for (int tower = first; tower < last; ++tower) {
    const auto index = static_cast<std::size_t>(tower);
    const auto launched = std::exchange(launched_[index], std::nullopt);
    if (!launched) continue;
    const auto& [job, phase] = *launched;
    std::exception_ptr error;
    if (threads_[index]->wait(deadline, error) == TowerThread::Outcome::late) {
      late += (late.empty() ? "tower " : ", tower ") + std::to_string(tower) + " (" +
              device(tower).label() + ")";
      unfinished = std::string(phase.name) + " of step " + std::to_string(phase.step);
    }
    if (error && (!failed || is_interruption(failed->cause())))
      failed.emplace(tower, device(tower).label(), job->phase, phase.step, error);
  }
  if (!late.empty()) {
    broken_ = late + " did not finish " + unfinished + " within " +
              std::to_string(options_.timeout.count()) + " ms";
    throw DeviceError(broken_ + "; raise the timeout if the step is really that long");
  }
  if (failed) throw_to_caller(*failed);
}

MemoryUse TowerGroup::memory(int tower) const {
  MemoryUse use = memory_use(device(tower));
  if (const MemoryAccount* own = threads_[static_cast<std::size_t>(tower)]->memory()) {
    use.in_use = own->in_use();
    use.peak = own->peak();
  }
  return use;
}

void TowerGroup::reset_memory_peaks() {
  for (int tower = 0; tower < size(); ++tower) {
    if (MemoryAccount* own = threads_[static_cast<std::size_t>(tower)]->memory()) {
      own->reset_peak();
    } else {
      const auto card = device(tower).torch_device();
      at::getDeviceAllocator(card.type())->resetPeakStats(card.index());
    }
  }
}

void TowerGroup::settle() {
  for (const auto& thread : threads_) thread->settle();
}

at::Tensor TowerGroup::on_tower(const at::Tensor& tensor, int tower) const {
  if (!tensor.defined()) return tensor;
  at::Tensor moved =
      tensor.to(device(tower).torch_device(), tensor.scalar_type(), /*non_blocking=*/true);
  const bool image = moved.dim() == 4 && moved.is_floating_point();
  if (!image || options_.image_format == ImageFormat::contiguous) return moved;
  return moved.contiguous(at::MemoryFormat::ChannelsLast);
}

void TowerGroup::publish_parameters(int tower) const {
  if (!own_master_ && tower == 0) return;
  if (!own_master_ && placement_ == Placement::mirrored) return;  // tower 0 has the same
  at::NoGradGuard no_grad;
  const auto& shares = share(tower);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i].size() == 0) continue;
    elements_of(master_.trainable[i].tensor, shares[i])
        .copy_(elements_of(table(tower).trainable[i].tensor, shares[i]));
  }
}

void TowerGroup::renew_parameters(int tower) const {
  if (placement_ == Placement::shared || (!own_master_ && tower == 0)) return;
  at::NoGradGuard no_grad;
  const auto& own = table(tower).trainable;
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i].tensor.copy_(master_.trainable[i].tensor, /*non_blocking=*/true);
  }
}

void TowerGroup::adopt_first() {
  if (placement_ == Placement::shared) return;
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < master_.trainable.size(); ++i) {
    master_.trainable[i].tensor.copy_(table(0).trainable[i].tensor);
  }
  for (std::size_t i = 0; i < master_.frozen.size(); ++i) {
    master_.frozen[i].tensor.copy_(table(0).frozen[i].tensor);
  }
  run({.name = "renew"}, [this](TowerJob& job) {
    if (job.tower == 0) return;
    renew_parameters(job.tower);
    at::NoGradGuard no_grad_here;
    const auto& frozen = table(job.tower).frozen;
    for (std::size_t i = 0; i < frozen.size(); ++i)
      frozen[i].tensor.copy_(master_.frozen[i].tensor);
  });
}

void TowerGroup::train(bool on) {
  for (const auto& module : modules_) module->train(on);
}

}  // namespace pagoda
