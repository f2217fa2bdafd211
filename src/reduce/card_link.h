#pragma once

#include <pagoda/tower/replicas.h>

#include <memory>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Carries tensors between the towers' cards. All towers make the same calls in the same order,
/// each with a tensor of its own card; a call returns before the result is there.
///
/// Threads: calls of one tower one after another, towers at once; `abort` on any thread, `reset`
/// while no tower runs.
/// Fails: UsageError for values that are no floating-point numbers; TowerInterrupted for every call
/// between `abort` and `reset`.
class CardLink {
 public:
  virtual ~CardLink() = default;

  /// Begins to replace the values by their sum over all replicas. They must not be touched until
  /// `wait`.
  virtual void start_sum(int tower, const at::Tensor& values) = 0;

  /// Begins to replace the values by those of tower `from`.
  virtual void start_broadcast(int tower, int from, const at::Tensor& values) = 0;

  /// What the tower does from here on sees the results of all that it has started.
  /// Fails: DeviceError when another tower is late.
  virtual void wait(int tower) = 0;

  /// A tower has failed: the others are not to wait for it.
  virtual void abort() = 0;

  /// Begins anew after `abort`.
  virtual void reset() = 0;
};

/// Fails: UsageError for values that cards do not sum: anything but floating-point numbers.
void check_card_values(const at::Tensor& values);

/// Null where there is none: for a single tower, for devices of several kinds, for CPU towers, and
/// for CUDA cards in a library that was built without NCCL.
std::unique_ptr<CardLink> make_card_link(const Replicas& replicas);

/// Simulated cards do through the host's memory what NCCL does, so that the rest can be tried.
std::unique_ptr<CardLink> make_sim_link(const Replicas& replicas);

/// Null without NCCL.
std::unique_ptr<CardLink> make_nccl_link(const Replicas& replicas);

}  // namespace pagoda
