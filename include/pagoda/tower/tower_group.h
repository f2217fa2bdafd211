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

/// One replica of a model on each device, each with its own thread, for as long as the group lives.
///
/// The replicas come from a factory that is called once for each tower, in the tower's thread. The
/// same random stream serves every call, so all start with the same values; with shared placement
/// the calls come one after another, so that never more than two sets of parameters exist.
///
/// Threads: one coordinating thread calls everything; `run` brings work to the towers' threads.
/// Owns: the threads, which end with the group, and the replicas, which it shares with the work in
/// these threads.
/// Fails: UsageError for no devices, replicas that differ, or a placement that a device cannot do;
/// TowerError over a MemoryLimitError for a tower that passes its device's memory limit.
class TowerGroup {
 public:
  TowerGroup(std::vector<Device> devices, ModelFactory factory, const TowerOptions& options = {});
  ~TowerGroup();
  TowerGroup(const TowerGroup&) = delete;
  TowerGroup& operator=(const TowerGroup&) = delete;

  /// How many towers there are.
  int size() const { return replicas_->size(); }
  /// Where a tower is.
  const Device& device(int tower) const { return replicas_->device(tower); }
  /// As they were given.
  const TowerOptions& options() const { return replicas_->options(); }
  /// A tower's module.
  torch::nn::Module& module(int tower) const { return replicas_->module(tower); }

  /// The tensors of one tower's replica.
  const ParameterTable& table(int tower) const { return replicas_->table(tower); }

  /// The current parameters in CPU memory; see Replicas::master.
  const ParameterTable& master() const { return replicas_->master(); }

  /// The trainable ones among them, for a `torch::optim::Optimizer`.
  std::vector<at::Tensor> parameters() const;

  /// For work that runs in the towers' threads: a tower that is late may still need it when the
  /// group is gone.
  const std::shared_ptr<Replicas>& replicas() const { return replicas_; }

  /// The tensor on the tower's device, images in the group's format; an undefined one stays so.
  at::Tensor on_tower(const at::Tensor& tensor, int tower) const {
    return replicas_->on_tower(tensor, tower);
  }

  /// What the towers take.
  TowerMemory& memory() const { return *memory_; }

  /// Runs `work` on every tower's thread at once and waits for all.
  ///
  /// Fails: TowerError with what the first failing tower (in tower order) threw, after all have
  /// ended; a UsageError stays one, with the same text. DeviceError when a tower is late, after
  /// which the group cannot be used any more; `work` and what it captures by value live as long as
  /// the tower needs them, so let it capture nothing by reference that ends earlier.
  void run(const TowerPhase& phase, std::function<void(TowerJob&)> work);

  /// Begins work on one tower and returns. What was started on it before is waited for first, here
  /// and in `run`, and both throw what that work threw.
  void start(int tower, const TowerPhase& phase, std::function<void(TowerJob&)> work);

  /// Waits for what was started on the tower. Fails as `run` does.
  void finish(int tower);

  /// False after a tower was late; it may then still be at work.
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
  std::vector<std::optional<Launched>> launched_;  // by tower: work that was not waited for yet
  std::string broken_;  // why the group cannot be used any more; empty while it can
};

/// Takes tower 0's parameters as the master's and every tower's, and its buffers as every tower's,
/// after they were loaded from outside.
void adopt_first(TowerGroup& towers);

}  // namespace pagoda
