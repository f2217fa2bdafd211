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
  int stages = 1;  ///< parts that a model is cut into; so many devices make one tower
  /// Layers of each stage, such as {2, 2}; empty: as even as it goes, without an output layer that
  /// all stages compute. See `balance`.
  std::vector<int> layers_per_stage = {};
  OutputPlace output = OutputPlace::last_stage;  ///< which devices have the last layer
};

/// One stage of one replica.
struct Stage {
  Device device;              ///< where it computes
  std::vector<Layer> layers;  ///< what it computes, in order
  int first_layer = 0;        ///< the number of its first layer in the model
  Tensors buffers = {};       ///< that its layers may change
  bool trainable = true;      ///< false when none of its parameters requires a gradient
};

/// The output layer as one stage computes it. The last stage has the model's own; the others have
/// another model of which only this layer's tensors exist, with the values of the model's own.
struct StageOutput {
  std::shared_ptr<torch::nn::Module> model;  ///< of which only this layer is used
  Layer layer;                               ///< the layer, as that model computes it
};

/// A replica that is cut into stages; shared with the threads that compute it.
struct StagedReplica {
  std::shared_ptr<torch::nn::Module> model;  ///< the whole one, with its own names
  std::vector<Stage> stages;                 ///< its parts, in order
  /// By stage, where the output layer is on every stage; otherwise empty, and the layer is among
  /// those of the last stage.
  std::vector<StageOutput> outputs = {};
};

/// Replicas cut into stages, and the threads of all stages but the first, which run beside the
/// tower's own. Device number t·S + s is that of stage s of tower t.
///
/// Threads: run(t), adopt(t) and adopt_output(t) in the thread of tower t; the rest on the
/// coordinating thread.
/// Fails: UsageError when the devices cannot be divided by the stages, or when a model cannot be
/// cut as wished: fewer layers than stages, layers left over, a parameter in two stages or in none,
/// an output layer on every stage that has buffers (each stage would change its own).
class Stages {
 public:
  Stages(std::vector<Device> devices, StageOptions options);
  ~Stages();
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  /// Stages of a tower.
  int count() const { return options_.stages; }
  /// Towers that the devices are.
  int towers() const { return static_cast<int>(devices_.size()) / count(); }
  /// Where a stage computes.
  const Device& device(int tower, int stage) const {
    return devices_[static_cast<std::size_t>(tower * count() + stage)];
  }

  /// The devices of the first stages: where the towers' own threads run.
  std::vector<Device> tower_devices() const;
  /// Whether all devices compute in the CPU's memory.
  bool share_memory() const;
  /// Where the parameters live: on cards, the host has the master copy.
  /// Fails: UsageError when another placement is wanted there.
  std::optional<ParameterPlacement> resolve_placement(
      std::optional<ParameterPlacement> wanted) const;

  /// Cuts the tower's replica and moves every tensor to the device of its stage.
  void adopt(int tower, std::shared_ptr<torch::nn::Module> model, std::vector<Layer> layers);
  /// Stages that need a model of their own for the output layer: 0, 1, … up to this number.
  int output_copies() const {
    return options_.output == OutputPlace::every_stage ? count() - 1 : 0;
  }
  /// Takes the last of these layers for the output layer of a stage; everything else in `model`
  /// gives up its memory. After `adopt`, for each of these stages, before `run`.
  void adopt_output(int tower, int stage, std::shared_ptr<torch::nn::Module> model,
                    std::vector<Layer> layers);
  /// A tower's, once it is cut; shared with work that must not end with the group.
  std::shared_ptr<const StagedReplica> replica(int tower) const {
    return replicas_[static_cast<std::size_t>(tower)];
  }

  /// Runs work(stage) for all stages of a tower at once, stage 0 in the calling thread, and waits
  /// for all, however long it takes: that a tower is late, its group finds out.
  /// Fails: what the first failing stage threw.
  void run(int tower, const std::function<void(int stage)>& work);

  /// What the stage's device has and what its tensors take there; stage 0's is the tower's own
  /// (TowerGroup::memory).
  MemoryUse memory(int tower, int stage) const;

 private:
  TowerThread& thread(int tower, int stage) const {
    return *threads_[static_cast<std::size_t>(tower * (count() - 1) + stage - 1)];
  }

  const std::vector<Device> devices_;
  const StageOptions options_;
  std::vector<std::shared_ptr<StagedReplica>> replicas_;  // by tower
  std::vector<MemoryClaim> claims_;                       // of stages 1, 2, …
  std::vector<std::unique_ptr<TowerThread>> threads_;     // of stages 1, 2, …, by tower
};

}  // namespace pagoda
