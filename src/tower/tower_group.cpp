#include <pagoda/base/error.h>
#include <pagoda/sim/sim_cards.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/tower/tower_group.h>

#include <utility>

#include <ATen/record_function.h>

#include "base/patience.h"
#include "base/random_streams.h"
#include "memory/freed_memory.h"
#include "tower/parameter_copies.h"
#include "tower/tower_thread.h"

namespace pagoda {
namespace {

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

TowerGroup::TowerGroup(std::vector<Device> devices, ModelFactory factory,
                       const TowerOptions& options)
    : replicas_(std::make_shared<Replicas>(std::move(devices), options)),
      launched_(replicas_->devices().size()) {
  keep_freed_memory();
  for (const auto& device : replicas_->devices()) claims_.emplace_back(device);
  std::vector<std::shared_ptr<MemoryAccount>> accounts;
  for (int tower = 0; tower < size(); ++tower) {
    threads_.push_back(std::make_unique<TowerThread>(tower, device(tower)));
    accounts.push_back(threads_.back()->memory());
  }
  memory_ = std::make_unique<TowerMemory>(replicas_->devices(), std::move(accounts));
  memory_->reset_peaks();  // a card's may be that of an earlier group
  build(std::make_shared<const ModelFactory>(std::move(factory)));
}

TowerGroup::~TowerGroup() = default;

void TowerGroup::build(const std::shared_ptr<const ModelFactory>& factory) {
  const auto build_from = [&](int first, int last) {
    run({.name = "construction"}, [replicas = replicas_, factory, first, last](TowerJob& job) {
      if (job.tower >= first && job.tower < last) replicas->build(job.tower, *factory);
    });
  };
  build_from(0, 1);
  replicas_->copies().begin(table(0));
  // With shared placement each gives up its own parameters before the next is built.
  const int together = replicas_->placement() == ParameterPlacement::shared ? 1 : size();
  for (int next = 1; next < size(); next += together) build_from(next, next + together);
}

std::vector<at::Tensor> TowerGroup::parameters() const {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : master().trainable) tensors.push_back(entry.tensor);
  return tensors;
}

void TowerGroup::run(const TowerPhase& phase, std::function<void(TowerJob&)> work) {
  await(0, size());
  // Shared with the towers: one that misses the deadline must not be left with dangling references.
  const auto shared_work = std::make_shared<const std::function<void(TowerJob&)>>(std::move(work));
  for (int tower = 0; tower < size(); ++tower) launch(tower, phase, shared_work);
  await(0, size());
}

void TowerGroup::start(int tower, const TowerPhase& phase, std::function<void(TowerJob&)> work) {
  finish(tower);
  launch(tower, phase, std::make_shared<const std::function<void(TowerJob&)>>(std::move(work)));
}

void TowerGroup::finish(int tower) { await(tower, tower + 1); }

void TowerGroup::launch(int tower, const TowerPhase& phase, Work work) {
  const RandomStreams streams(options().seed);
  std::optional<std::uint64_t> seed;
  if (phase.fresh_randomness) {
    seed = streams.tower_step(options().first_tower + phase.stream.value_or(tower), phase.step);
    if (device(tower).kind == DeviceKind::sim) note_sim_card_step(device(tower).index, phase.step);
  }
  if (!replicas_->is_built(tower)) seed = streams.initialisation();
  const auto job = std::make_shared<TowerJob>(
      TowerJob{.tower = tower, .phase = phase.name, .watch = phase.watch});
  const auto index = static_cast<std::size_t>(tower);
  launched_[index] = Launched{job, phase};
  threads_[index]->start(
      [work = std::move(work), job, block = phase.block ? phase.block : phase.name] {
        RECORD_USER_SCOPE(block);  // for traces; free when nobody records
        (*work)(*job);
      },
      seed);
}

void TowerGroup::await(int first, int last) {
  if (!broken_.empty()) throw DeviceError("the towers cannot be used any more: " + broken_);
  Patience patience(options().timeout);  // for all of them together
  std::optional<TowerError> failed;
  std::string late;  // all of them: one may only be waiting for another's gradients
  std::string unfinished;
  for (int tower = first; tower < last; ++tower) {
    const auto index = static_cast<std::size_t>(tower);
    const auto launched = std::exchange(launched_[index], std::nullopt);
    if (!launched) continue;
    const auto& [job, phase] = *launched;
    std::exception_ptr error;
    if (threads_[index]->wait(patience, error) == TowerThread::Outcome::late) {
      late += (late.empty() ? "tower " : ", tower ") + std::to_string(tower) + " (" +
              device(tower).label() + ")";
      unfinished = std::string(phase.name) + " of step " + std::to_string(phase.step);
    }
    if (error && (!failed || is_interruption(failed->cause())))
      failed.emplace(tower, device(tower).label(), job->phase, phase.step, error);
  }
  if (!late.empty()) {
    broken_ = late + " did not finish " + unfinished + " within " +
              std::to_string(options().timeout.count()) + " ms";
    throw DeviceError(broken_ + "; raise the timeout if the step is really that long");
  }
  if (failed) throw_to_caller(*failed);
}

void adopt_first(TowerGroup& towers) {
  towers.replicas()->copies().master_from_first();
  towers.run({.name = "renew"}, [replicas = towers.replicas()](TowerJob& job) {
    if (job.tower == 0) return;
    replicas->copies().renew(job.tower);
    replicas->copies().renew_frozen(job.tower);
    replicas->copies().renew_buffers(job.tower);
  });
}

}  // namespace pagoda
