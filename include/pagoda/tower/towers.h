#pragma once

#include <pagoda/tower/tower_group.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace pagoda {
namespace detail {

/// The module inside what a factory returns: a module holder (TORCH_MODULE) or a shared_ptr.
template <class Model>
std::shared_ptr<torch::nn::Module> module_in(Model& model) {
  if constexpr (requires { model.ptr(); }) {
    return model.ptr();
  } else {
    return model;
  }
}

/// A factory may also return its module by value; it is then held by a shared_ptr.
template <class Made>
using ModelOf =
    std::conditional_t<std::is_base_of_v<torch::nn::Module, Made>, std::shared_ptr<Made>, Made>;

template <class Made>
ModelOf<Made> model_from(Made&& made) {
  if constexpr (std::is_base_of_v<torch::nn::Module, Made>) {
    return std::make_shared<Made>(std::forward<Made>(made));
  } else {
    return std::forward<Made>(made);
  }
}

}  // namespace detail

/// The replicas of a group with the type of their models, for work in the towers' threads; keeps
/// them alive as long as that work runs.
template <class Model>
class TypedReplicas {
 public:
  using Slots = std::vector<std::optional<Model>>;  ///< the models by tower

  TypedReplicas(std::shared_ptr<const Replicas> replicas, std::shared_ptr<Slots> models)
      : replicas_(std::move(replicas)), models_(std::move(models)) {}

  /// How many towers there are.
  int size() const { return replicas_->size(); }
  /// A tower's model.
  Model& model(int tower) const { return *(*models_)[static_cast<std::size_t>(tower)]; }

  /// The feed with all its tensors on the tower's device.
  template <class Feed>
  Feed on_tower(const Feed& feed, int tower) const {
    return feed.with_tensors(
        [&](const at::Tensor& tensor) { return replicas_->on_tower(tensor, tower); });
  }

 private:
  std::shared_ptr<const Replicas> replicas_;
  std::shared_ptr<Slots> models_;
};

/// A TowerGroup that knows the type of its models, so that a loss function gets the model as the
/// user wrote it. `Model` is what the factory returns; a module returned by value is held by a
/// `shared_ptr`.
template <class Model>
class Towers : public TowerGroup {
 public:
  using Slots = typename TypedReplicas<Model>::Slots;  ///< the models by tower

  Towers(std::vector<Device> devices, ModelFactory factory, const TowerOptions& options,
         std::shared_ptr<Slots> models)
      : TowerGroup(std::move(devices), std::move(factory), options), models_(std::move(models)) {}

  /// A tower's replica; tower 0's holds the values that are saved.
  Model& model(int tower) const { return *(*models_)[static_cast<std::size_t>(tower)]; }

  /// All replicas, for work that may outlive the group.
  TypedReplicas<Model> typed_replicas() const { return {replicas(), models_}; }

 private:
  std::shared_ptr<Slots> models_;
};

/// Builds one tower on each device. `make_model` must own what it uses (see ModelFactory).
///
/// Example: `auto towers = make_towers(visible_devices(), [] { return LeNet5(); }, {.seed = 7});`
template <class MakeModel>
auto make_towers(std::vector<Device> devices, MakeModel make_model,
                 const TowerOptions& options = {}) {
  using Model = detail::ModelOf<std::remove_cvref_t<std::invoke_result_t<MakeModel&>>>;
  auto models = std::make_shared<typename Towers<Model>::Slots>(devices.size());
  const auto factory = [models, make_model](int tower) mutable {
    auto& slot = (*models)[static_cast<std::size_t>(tower)];
    slot.emplace(detail::model_from(make_model()));
    return detail::module_in(*slot);
  };
  return Towers<Model>(std::move(devices), factory, options, models);
}

}  // namespace pagoda
