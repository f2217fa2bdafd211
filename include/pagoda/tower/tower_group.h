#pragma once

#include <pagoda/base/random_streams.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/params/block_plan.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/tower/placement.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace pagoda {

class TowerThread;

/// How images (4-dimensional floating-point tensors) lie in memory. The numbers and shapes that a
/// model sees are the same; `channels_last` is faster for convolutions.
enum class ImageFormat { channels_last, contiguous };

struct TowerOptions {
  /// Seed of the initial values and of every tower's random stream.
  std::uint64_t seed = 0;
  ImageFormat image_format = ImageFormat::channels_last;
  /// Unset: shared where all towers are CPU towers, host otherwise.
  std::optional<Placement> placement = std::nullopt;
  /// The factory has put the replica's tensors where they belong; otherwise all go to the tower's
  /// device.
  bool factory_places = false;
  /// How long one phase of a step may take before the late tower is reported as an error.
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
};

/// What a piece of work knows about itself; it keeps `phase` up to date for error messages.
struct TowerJob {
  int tower;
  const char* phase;
  int stage = 0;  ///< where a tower is a pipeline of stages
};

/// One replica of a model on each device, each with its own thread, for as long as the group lives.
///
/// The replicas come from a factory that is called once for each tower, in the tower's thread. The
/// same random stream serves every call, so all start with the same values; with shared placement
/// the calls come one after another, so that never more than two sets of parameters exist.
///
/// Threads: one coordinating thread calls everything; `run` brings work to the towers' threads.
/// Owns: the replicas and the threads, which end with the group.
/// Fails: UsageError for no devices, replicas that differ, or a placement that a device cannot do;
/// TowerError over a MemoryLimitError for a tower that passes its device's memory limit.
class TowerGroup {
 public:
  /// Builds the replica of a tower.
  using Factory = std::function<std::shared_ptr<torch::nn::Module>(int tower)>;

  TowerGroup(std::vector<Device> devices, const Factory& factory, const TowerOptions& options = {});
  ~TowerGroup();
  TowerGroup(const TowerGroup&) = delete;
  TowerGroup& operator=(const TowerGroup&) = delete;

  int size() const { return static_cast<int>(devices_.size()); }
  const Device& device(int tower) const { return devices_[static_cast<std::size_t>(tower)]; }
  const TowerOptions& options() const { return options_; }
  Placement placement() const { return placement_; }

  torch::nn::Module& module(int tower) const { return *modules_[static_cast<std::size_t>(tower)]; }

  /// The tensors of one tower's replica.
  const ParameterTable& table(int tower) const { return tables_[static_cast<std::size_t>(tower)]; }

  /// The current parameters in CPU memory: tower 0's own where all towers are CPU towers (but for
  /// host placement), otherwise a copy.
  const ParameterTable& master() const { return master_; }

  /// The trainable parameters of `master()`, for a `torch::optim::Optimizer`.
  std::vector<at::Tensor> parameters() const;

  /// Runs `work` on every tower's thread at once and waits for all.
  ///
  /// `phase` and `step` are for messages. With `fresh_randomness` each tower's random stream begins
  /// anew, as a function of seed, step and tower. Fails: TowerError with what the first failing
  /// tower (in tower order) threw, after all have ended; a UsageError stays one, with the same
  /// text. DeviceError when a tower is late, after which the group cannot be used any more; `work`
  /// and what it captures by value live as long as the tower needs them.
  struct Phase {
    const char* name;
    std::int64_t step = 0;
    bool fresh_randomness = false;
    /// Whose random stream of the step it is; unset: the tower's own.
    std::optional<int> stream = std::nullopt;
  };
  void run(const Phase& phase, const std::function<void(TowerJob&)>& work);

  /// Begins work on one tower and returns. What was started on it before is waited for first, here
  /// and in `run`, and both throw what that work threw.
  void start(int tower, const Phase& phase, const std::function<void(TowerJob&)>& work);

  /// Waits for what was started on the tower. Fails as `run` does.
  void finish(int tower);

  /// False after a tower was late; it may then still be at work.
  bool usable() const { return broken_.empty(); }

  /// Gives late towers a little more time, before something is destroyed that they use.
  void settle();

  /// The tensor on the tower's device, images in the group's format; an undefined one stays so.
  at::Tensor on_tower(const at::Tensor& tensor, int tower) const;

  /// What the tower's device has, and what its tensors take there. On a CPU tower: what its thread
  /// has allocated, parameters included (shared ones on tower 0), and the optimizer's state where
  /// the tower updates.
  MemoryUse memory(int tower) const;

  /// Begins to measure the towers' peaks anew.
  void reset_memory_peaks();

  /// Whether an update takes place on the towers (mirrored, spread) and not in the master.
  bool towers_update() const {
    return placement_ == Placement::mirrored || placement_ == Placement::spread;
  }

  /// The elements of each parameter that are the tower's share of an update.
  const std::vector<ElementRange>& share(int tower) const {
    return shares_[static_cast<std::size_t>(tower)];
  }

  /// Where the towers update: writes the tower's share of its parameters into the master. Call it
  /// in the tower's thread after its part of an update.
  void publish_parameters(int tower) const;

  /// Renews the tower's copy of the parameters from the master; nothing to do where that is the
  /// tower's own. Call it in the tower's thread after an update.
  void renew_parameters(int tower) const;

  /// Takes tower 0's parameters as the master's and every tower's, after they were loaded from
  /// outside.
  void adopt_first();

  /// Switches every replica between training and evaluation.
  void train(bool on);

 private:
  void build(const Factory& factory);
  void build_tower(int tower, const Factory& factory);
  void adopt_parameters(int tower);
  void launch(int tower, const Phase& phase,
              std::shared_ptr<const std::function<void(TowerJob&)>> work);
  void await(int first, int last);

  // Constant after construction.
  std::vector<Device> devices_;
  TowerOptions options_;
  Placement placement_;
  RandomStreams streams_;
  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
  std::vector<ParameterTable> tables_;
  ParameterTable master_;
  bool own_master_ = false;                        // a copy, not tower 0's parameters
  std::vector<std::vector<ElementRange>> shares_;  // by tower, then by parameter

  // Coordinating thread only.
  struct Launched {
    std::shared_ptr<TowerJob> job;
    Phase phase;
  };
  std::vector<std::unique_ptr<TowerThread>> threads_;
  std::vector<std::optional<Launched>> launched_;  // by tower: work that was not waited for yet
  std::string broken_;  // why the group cannot be used any more; empty while it can
};

}  // namespace pagoda
