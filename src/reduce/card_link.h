#pragma once

#include <pagoda/tower/replicas.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

  /// Begins to replace the values by their sum over all replicas, of other processes too. They must
  /// not be touched until `wait`.
  virtual void start_sum(int tower, const at::Tensor& values) = 0;

  /// Begins to replace the values by those of tower `from` of the same process; for one that is
  /// alone.
  virtual void start_broadcast(int tower, int from, const at::Tensor& values) = 0;

  /// What the tower does from here on sees the results of all that it has started.
  /// Fails: TowerInterrupted when another process has failed; DeviceError when another tower is late.
  virtual void wait(int tower) = 0;

  /// A tower has failed: the others are not to wait for it.
  virtual void abort() = 0;

  /// Begins anew after `abort`. A link of several processes, which would have to do that together,
  /// stays aborted.
  virtual void reset() = 0;
};

/// Fails: UsageError for values that cards do not sum: anything but floating-point numbers.
void check_card_values(const at::Tensor& values);

/// Other processes whose cards are on the same link.
struct LinkPeers {
  int rank = 0;
  /// Every process's text, by rank. All call it together.
  std::function<std::vector<std::string>(const std::string& own)> gather;
  /// Whether one of them has failed, which then takes part in nothing any more. Any thread.
  std::function<bool()> has_failed;
};

/// Which cards of a link are this process's.
struct LinkPlace {
  int first = 0;
  int total = 0;
};

/// Null where there is none: for a single tower, for devices of several kinds, for CPU towers, for
/// parameters that cards do not update, and for CUDA cards in a library that was built without NCCL.
/// With peers all processes make it together, and there is one for all of them or for none; they
/// have copies of all parameters (mirrored).
std::unique_ptr<CardLink> make_card_link(const Replicas& replicas,
                                         const std::optional<LinkPeers>& peers = std::nullopt);

/// Simulated cards do through the host's memory what NCCL does, so that the rest can be tried. Null
/// where the peers are not threads of this process.
std::unique_ptr<CardLink> make_sim_link(const Replicas& replicas, LinkPlace place,
                                        const std::optional<LinkPeers>& peers);

std::unique_ptr<CardLink> make_nccl_link(const Replicas& replicas, LinkPlace place,
                                         const std::optional<LinkPeers>& peers);
/// Whether the library was built with NCCL; without it there is no such link.
bool has_nccl();

}  // namespace pagoda
