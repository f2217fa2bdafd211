#pragma once

#include <pagoda/pipeline/stages.h>
#include <pagoda/tower/towers.h>

#include <memory>
#include <utility>
#include <vector>

namespace pagoda {

/// Like TypedReplicas, for work in the threads of stages.
template <class Model>
class StageModels : public TypedReplicas<Model> {
 public:
  using Slots = typename TypedReplicas<Model>::Slots;  ///< the models, by tower and stage

  StageModels(TypedReplicas<Model> replicas, std::shared_ptr<Slots> output_models,
              std::shared_ptr<Stages> stages)
      : TypedReplicas<Model>(std::move(replicas)),
        output_models_(std::move(output_models)),
        stages_(std::move(stages)) {}

  /// Where the replicas are cut, and the devices.
  const Stages& stages() const { return *stages_; }

  /// The model that computes the output layer on a stage: the tower's replica, or a copy in which
  /// only that layer has memory (see StageOutput).
  Model& output_model(int tower, int stage) const {
    const int copies = stages_->output_copies();
    if (stage >= copies) return this->model(tower);
    return *(*output_models_)[static_cast<std::size_t>(tower * copies + stage)];
  }

  /// The feed with all its tensors on the device of a stage.
  template <class Feed>
  Feed on_stage(const Feed& feed, int tower, int stage) const {
    const auto device = stages_->device(tower, stage).torch_device();
    return feed.with_tensors(
        [&](const at::Tensor& tensor) { return tensor.defined() ? tensor.to(device) : tensor; });
  }

 private:
  std::shared_ptr<Slots> output_models_;  // by tower, for the stages that need one
  std::shared_ptr<Stages> stages_;
};

/// Towers whose replicas are cut into stages, each on its own device: 4 devices and 2 stages make
/// two towers of two stages, the first of them on devices 0 and 1.
///
/// It is a Towers: checkpoints, moving averages and `save` see the model as a whole, with the names
/// that it has on one device. On CPU devices a tower can also compute the whole model (`evaluate`,
/// decoding); on cards its parameters are on several devices, and only the stages can compute.
template <class Model>
class StagedTowers : public Towers<Model> {
 public:
  using Slots = typename Towers<Model>::Slots;  ///< the models by tower

  StagedTowers(const ModelFactory& factory, const TowerOptions& options,
               std::shared_ptr<Slots> models, std::shared_ptr<Slots> output_models,
               std::shared_ptr<Stages> stages)
      : Towers<Model>(stages->tower_devices(), factory, options, std::move(models)),
        output_models_(std::move(output_models)),
        stages_(std::move(stages)) {}

  /// Where the replicas are cut, and the devices.
  Stages& stages() const { return *stages_; }
  /// The same, for work that may outlive the group.
  const std::shared_ptr<Stages>& shared_stages() const { return stages_; }

  /// All models, for work that may outlive the group.
  StageModels<Model> stage_models() const {
    return {this->typed_replicas(), output_models_, stages_};
  }

 private:
  std::shared_ptr<Slots> output_models_;  // by tower, for the stages that need one
  std::shared_ptr<Stages> stages_;        // destroyed before the replicas
};

/// The layers that a model itself lists: `model->layers()`.
struct OwnLayers {
  template <class Model>
  std::vector<Layer> operator()(Model& model) const {
    return model->layers();
  }
};

/// Builds one replica for every `stages.stages` devices and cuts it into stages. `layers(model)`
/// returns the model's layers in order; they may refer to the model.
/// Fails: as Stages and TowerGroup.
///
/// Example:
///     auto towers = make_staged_towers(select_devices("sim:0-3"), [] { return LeNet5(); },
///                                      {.stages = 2});
template <class MakeModel, class Layers = OwnLayers>
auto make_staged_towers(std::vector<Device> devices, MakeModel make_model,
                        const StageOptions& stages, TowerOptions options = {}, Layers layers = {}) {
  using Model = detail::ModelOf<std::remove_cvref_t<std::invoke_result_t<MakeModel&>>>;
  using Slots = typename Towers<Model>::Slots;
  auto parts = std::make_shared<Stages>(std::move(devices), stages);
  auto models = std::make_shared<Slots>(static_cast<std::size_t>(parts->towers()));
  auto output_models =
      std::make_shared<Slots>(static_cast<std::size_t>(parts->towers() * parts->output_copies()));
  options.placement = parts->resolve_placement(options.placement);
  options.factory_places = true;
  const auto factory = [models, output_models, parts, make_model, layers](int tower) mutable {
    auto& slot = (*models)[static_cast<std::size_t>(tower)];
    slot.emplace(detail::model_from(make_model()));
    parts->adopt(tower, detail::module_in(*slot), layers(*slot));
    const int copies = parts->output_copies();
    for (int stage = 0; stage < copies; ++stage) {
      auto& copy = (*output_models)[static_cast<std::size_t>(tower * copies + stage)];
      copy.emplace(detail::model_from(make_model()));
      parts->adopt_output(tower, stage, detail::module_in(*copy), layers(*copy));
    }
    return detail::module_in(*slot);
  };
  return StagedTowers<Model>(factory, options, models, output_models, parts);
}

}  // namespace pagoda
