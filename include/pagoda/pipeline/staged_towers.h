#pragma once

#include <pagoda/pipeline/stages.h>
#include <pagoda/tower/towers.h>

#include <memory>
#include <utility>
#include <vector>

namespace pagoda {

/// Towers whose replicas are cut into stages on devices of their own: 4 devices and 2 stages are
/// two towers of two stages, the first on devices 0 and 1.
///
/// It is a Towers: checkpoints, moving averages and `save` see the model as a whole, with the names
/// that it has on one device. On CPU devices a tower can also compute the whole model (`evaluate`,
/// decoding); on cards its parameters lie on several, and only the stages can.
template <class Model>
class StagedTowers : public Towers<Model> {
 public:
  StagedTowers(const TowerGroup::Factory& factory, const TowerOptions& options,
               std::shared_ptr<typename Towers<Model>::Slots> models,
               std::shared_ptr<Stages> stages)
      : Towers<Model>(stages->tower_devices(), factory, options, std::move(models)),
        stages_(std::move(stages)) {}

  Stages& stages() const { return *stages_; }

 private:
  std::shared_ptr<Stages> stages_;  // ends before the replicas do
};

/// The layers that a model names itself: `model->layers()`.
struct OwnLayers {
  template <class Model>
  std::vector<Layer> operator()(Model& model) const {
    return model->layers();
  }
};

/// Builds one replica for every `stages.stages` devices and cuts it. `layers(model)` gives the
/// model's layers in order; they may refer to the model.
/// Fails: as Stages and TowerGroup.
///
/// Example:
///     auto towers = make_staged_towers(select_devices("sim:0-3"), [] { return LeNet5(); },
///                                      {.stages = 2});
template <class MakeModel, class Layers = OwnLayers>
auto make_staged_towers(std::vector<Device> devices, MakeModel make_model,
                        const StageOptions& stages, TowerOptions options = {}, Layers layers = {}) {
  using Model = detail::ModelOf<std::remove_cvref_t<std::invoke_result_t<MakeModel&>>>;
  auto parts = std::make_shared<Stages>(std::move(devices), stages);
  auto models =
      std::make_shared<typename Towers<Model>::Slots>(static_cast<std::size_t>(parts->towers()));
  options.placement = parts->resolve_placement(options.placement);
  options.factory_places = true;
  const auto factory = [models, parts, make_model, layers](int tower) mutable {
    auto& slot = (*models)[static_cast<std::size_t>(tower)];
    slot.emplace(detail::model_from(make_model()));
    parts->adopt(tower, detail::module_in(*slot), layers(*slot));
    return detail::module_in(*slot);
  };
  return StagedTowers<Model>(factory, options, models, parts);
}

}  // namespace pagoda
