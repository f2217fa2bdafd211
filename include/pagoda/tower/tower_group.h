#pragma once

#include <pagoda/tower/replicas.h>
#include <pagoda/tower/tower_job.h>
#include <pagoda/tower/tower_memory.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

class TowerThread;

/// One replica of a model on each device, each with its own thread, for the lifetime of the group.
///
/// The replicas come from a factory that is called once for each tower, in the tower's thread.
/// Every call starts from the same random seed, so all replicas start with the same values; with
/// shared placement the calls come one after another, so that there are never more than two sets of
/// parameters.
///
/// Threads: one coordinating thread calls everything; `run` and `start` hand work to the towers'
/// threads.
/// Owns: the threads, which end with the group, and the replicas, which it shares with the work in
/// these threads.
/// Fails: UsageError for no devices, replicas that differ, or a placement or option that the
/// devices do not support; TowerError caused by a MemoryLimitError if a tower exceeds its device's
/// memory limit; otherwise as MemoryClaim.
class TowerGroup {
 public:
  TowerGroup(std::vector<Device> devices, ModelFactory factory, const TowerOptions& options = {});
  ~TowerGroup();
  TowerGroup(const TowerGroup&) = delete;
  TowerGroup& operator=(const TowerGroup&) = delete;

  /// How many towers there are.
  int size() const { return replicas_->size(); }
  /// A tower's device.
  const Device& device(int tower) const { return replicas_->device(tower); }
  /// The options as they were given.
  const TowerOptions& options() const { return replicas_->options(); }
  /// A tower's module.
  torch::nn::Module& module(int tower) const { return replicas_->module(tower); }

  /// The tensors of one tower's replica.
  const ParameterTable& table(int tower) const { return replicas_->table(tower); }

  /// The current parameters in CPU memory; see Replicas::master.
  const ParameterTable& master() const { return replicas_->master(); }

  /// The trainable parameters of the master, for a `torch::optim::Optimizer`.
  std::vector<at::Tensor> parameters() const;

  /// The replicas, for work that runs in the towers' threads: a tower that has missed its deadline
  /// may still need them after the group is gone.
  const std::shared_ptr<Replicas>& replicas() const { return replicas_; }

  /// The tensor on the tower's device, with images in the group's format; an undefined tensor stays
  /// undefined.
  at::Tensor on_tower(const at::Tensor& tensor, int tower) const {
    return replicas_->on_tower(tensor, tower);
  }

  /// The memory that the towers use.
  TowerMemory& memory() const { return *memory_; }

  /// Runs `work` on every tower's thread at once and waits for all of them.
  ///
  /// Fails: TowerError with what the first failing tower (in tower order, TowerInterrupted last)
  /// threw, after all have ended; a UsageError stays a UsageError, with the same text. DeviceError
  /// if a tower misses its deadline (TowerOptions::timeout), after which the group can no longer be
  /// used; `work` and what it captures by value live as long as the tower needs them, so let it
  /// capture nothing by reference that ends earlier.
  void run(const TowerPhase& phase, std::function<void(TowerJob&)> work);

  /// Starts work on one tower and returns. Both this function and `run` first wait for work that
  /// was started on the tower before, and throw what it threw.
  void start(int tower, const TowerPhase& phase, std::function<void(TowerJob&)> work);

  /// Waits for the work that was started on the tower. Fails: as `run`.
  void finish(int tower);

  /// False after a tower has missed its deadline; that tower may then still be at work.
  bool usable() const { return broken_.empty(); }

 private:
  using Work = std::shared_ptr<const std::function<void(TowerJob&)>>;
  void build(const std::shared_ptr<const ModelFactory>& factory);
  void launch(int tower, const TowerPhase& phase, Work work);
  void await(int first, int last);

  // Constant after construction.
  std::shared_ptr<Replicas> replicas_;
  std::vector<MemoryClaim> claims_;
  std::unique_ptr<TowerMemory> memory_;

  // Coordinating thread only.
  struct Launched {
    std::shared_ptr<TowerJob> job;
    TowerPhase phase;
  };
  std::vector<std::unique_ptr<TowerThread>> threads_;
  std::vector<std::optional<Launched>> launched_;  // by tower: work not yet waited for
  std::string broken_;  // why the group can no longer be used; empty while it can
};

/// Makes tower 0's parameters those of the master and of every tower, and its buffers those of
/// every tower, after they have been loaded from outside.
void adopt_first(TowerGroup& towers);

}  // namespace pagoda
