#pragma once

#include <pagoda/device/device_memory.h>
#include <pagoda/params/layer.h>
#include <pagoda/pipeline/schedule.h>
#include <pagoda/tower/tower_group.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace torch::nn {
class Module;
}

namespace pagoda {

class TowerThread;

/// How a model is cut into stages.
struct StageOptions {
  int stages = 1;  ///< stages per model, and therefore devices per tower
  /// Layers of each stage, such as {2, 2}; empty: divided evenly, not counting an output layer that
  /// all stages compute. See `balance`.
  std::vector<int> layers_per_stage = {};
  OutputPlace output = OutputPlace::last_stage;  ///< which devices compute the last layer
};

/// One stage of one replica.
struct Stage {
  Device device;              ///< where it computes
  std::vector<Layer> layers;  ///< what it computes, in order
  int first_layer = 0;        ///< the number of its first layer in the model
  Tensors buffers = {};       ///< buffers that its layers may change
  bool trainable = true;      ///< false if none of its parameters requires a gradient
};

/// The output layer as one stage computes it. The last stage has the replica's own; every other
/// stage has another model, in which only this layer's tensors have memory, with the replica's
/// values.
struct StageOutput {
  std::shared_ptr<torch::nn::Module> model;  ///< the model that the layer belongs to
  Layer layer;                               ///< the layer, as that model computes it
};

/// A replica that is cut into stages; shared with the threads that compute it.
struct StagedReplica {
  std::shared_ptr<torch::nn::Module> model;  ///< the whole model, with its own names
  std::vector<Stage> stages;                 ///< its parts, in order
  /// By stage, if the output layer is on every stage; otherwise empty, and the layer is among those
  /// of the last stage.
  std::vector<StageOutput> outputs = {};
};

/// Replicas cut into stages, and the threads of all stages but the first, which runs in the tower's
/// own thread. Stage s of tower t is on device t·S + s.
///
/// Threads: run(t), adopt(t) and adopt_output(t) in the thread of tower t; the rest on the
/// coordinating thread.
/// Fails: UsageError if the number of devices is not a multiple of the number of stages, or if a
/// model cannot be cut as asked: fewer layers than stages, layers left over, a parameter in two
/// stages or in none, an output layer on every stage that has buffers (each stage would change its
/// own).
class Stages {
 public:
  Stages(std::vector<Device> devices, StageOptions options);
  ~Stages();
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  /// The number of stages of a tower.
  int count() const { return options_.stages; }
  /// The number of towers that the devices make.
  int towers() const { return static_cast<int>(devices_.size()) / count(); }
  /// The device of a stage.
  const Device& device(int tower, int stage) const {
    return devices_[static_cast<std::size_t>(tower * count() + stage)];
  }

  /// The devices of the first stages, where the towers' own threads run.
  std::vector<Device> tower_devices() const;
  /// Whether all devices compute in CPU memory.
  bool share_memory() const;
  /// The placement for replicas in stages: `host` on cards; on CPU devices `shared` or `host`, as
  /// wanted (unset stays unset).
  /// Fails: UsageError if another placement is wanted.
  std::optional<ParameterPlacement> resolve_placement(
      std::optional<ParameterPlacement> wanted) const;

  /// Cuts the tower's replica and moves every tensor to the device of its stage.
  void adopt(int tower, std::shared_ptr<torch::nn::Module> model, std::vector<Layer> layers);
  /// How many stages, from stage 0 on, need their own model for the output layer.
  int output_copies() const {
    return options_.output == OutputPlace::every_stage ? count() - 1 : 0;
  }
  /// Makes the last of these layers the output layer of a stage; everything else in `model` gives
  /// up its memory. Call it after `adopt` and before `run`, for each stage below `output_copies`.
  void adopt_output(int tower, int stage, std::shared_ptr<torch::nn::Module> model,
                    std::vector<Layer> layers);
  /// A tower's replica, once it is cut; shared with work that may outlive the group.
  std::shared_ptr<const StagedReplica> replica(int tower) const {
    return replicas_[static_cast<std::size_t>(tower)];
  }

  /// Runs work(stage) for all stages of a tower at once, stage 0 in the calling thread, and waits
  /// for all of them, however long they take: the group notices if the tower is late.
  /// Fails: what the first failing stage (in stage order) threw.
  void run(int tower, const std::function<void(int stage)>& work);

  /// What the stage's device has, and what the stage's tensors use there; for stage 0 on a CPU
  /// device, see TowerGroup::memory.
  MemoryUse memory(int tower, int stage) const;

 private:
  TowerThread& thread(int tower, int stage) const {
    return *threads_[static_cast<std::size_t>(tower * (count() - 1) + stage - 1)];
  }

  const std::vector<Device> devices_;
  const StageOptions options_;
  std::vector<std::shared_ptr<StagedReplica>> replicas_;  // by tower
  std::vector<MemoryClaim> claims_;                       // for stages 1, 2, …
  std::vector<std::unique_ptr<TowerThread>> threads_;     // of stages 1, 2, …, by tower
};

}  // namespace pagoda
