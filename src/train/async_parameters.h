#pragma once

#include <pagoda/train/evaluate.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "params/block_plan.h"
#include "reduce/host_exchange.h"
#include "train/step_parts.h"
#include "train/tower_pass.h"

namespace pagoda {

/// The parameters of asynchronous towers: a master copy that is changed by whole updates, one after
/// another, and a copy for each tower, taken between two of them.
///
/// Threads: read, write, renew and leave in the tower's thread; the rest on the coordinating
/// thread. Owns: cards' copies in CPU memory. Borrows the exchange, which is that of the parts.
class AsyncParameters {
 public:
  AsyncParameters(std::shared_ptr<StepParts> parts, HostExchange& exchange,
                  std::optional<std::int64_t> max_staleness);

  /// Gives the tower the newest parameters to compute with.
  void read(int number);

  /// The feeds' step, and its learning rate.
  struct UpdateNumber {
    std::int64_t step;
    double learning_rate;
  };
  struct Outcome {
    std::int64_t staleness = 0;  // updates between read and write
    std::optional<double> grad_norm = std::nullopt;
    bool skipped = false;     // the norm is not finite
    bool overflowed = false;  // because of the gradient's scale
    bool dropped = false;     // `stop` came first
  };

  /// Updates the parameters by the tower's collected gradients, alone or with other towers' that
  /// would become too old otherwise, and takes a copy of the result. Fails: DataError for a norm
  /// that is not finite, where that stops; DeviceError when others are late.
  Outcome write(int number, const TowerPass& pass, const UpdateNumber& update);

  /// Gives the tower that copy to compute with.
  void renew(int number);

  /// The tower has ended its work, with or without an update; nobody waits for it any more.
  void leave(int number);

  /// What waits or comes to `write` is dropped from now on; `restart` ends that.
  void stop();
  void restart();

  /// Makes every tower read anew, after parameters were loaded from outside or a failure.
  void forget_copies();

  /// The weight of each tower's updates since the last call.
  std::vector<double> take_weights();

 private:
  struct Tower {
    // The tower's thread only: its copy in CPU memory.
    std::vector<NamedTensor> values;
    std::optional<GradientNorm> norm;

    // Guarded by mutex_.
    bool computing = false;           // between read and write
    std::int64_t version = -1;        // of its copy; -1: to be taken anew
    const TowerPass* pass = nullptr;  // waits to become an update
    Outcome outcome = {};
    double weight = 0;
  };
  Tower& tower(int number) { return state_[static_cast<std::size_t>(number)]; }
  class Withdrawal;
  bool on_cpu(int number) const;

  std::optional<std::vector<int>> ready_group(int number) const;
  void update(const UpdateNumber& number, const std::vector<int>& group, int leader);
  CombinedGradient combined(const std::vector<int>& group);
  bool overflow_of(const std::vector<int>& group);
  double damping(const std::vector<int>& group) const;
  void run_updater(Tower& leader);
  std::optional<double> measure(GradientNorm& norm, const GradientView& view,
                                double l2_scale) const;
  void copy_block(const Block& block, Tower& own) const;
  void copy_all(Tower& own) const;

  // Constant after construction.
  const std::shared_ptr<StepParts> parts_;
  const Replicas& replicas_;
  HostExchange& exchange_;
  const std::optional<std::int64_t> max_staleness_;
  const BlockPlan plan_;

  std::mutex mutex_;  // held throughout an update and while a tower takes its copy
  std::condition_variable changed_;
  std::vector<Tower> state_;  // guarded by mutex_, but for what is said in Tower
  std::int64_t version_ = 0;  // updates so far; guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_
};

}  // namespace pagoda
