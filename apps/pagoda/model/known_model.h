#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/model_measuring.h"
#include "model/model_training.h"

namespace pagoda::app {

/// A model that the program knows, which is all that its commands know of it: `train` and `eval` use
/// its training, `bench` and `verify` its measuring. Each model has a folder with everything of its
/// own, and a line in registry/known_models.cpp.
///
/// Example:
///     KnownModel spiral_model() {
///       return {.name = "spiral",
///               .about = "Tells the arms of a spiral apart",
///               .training = [] { return std::make_unique<SpiralTraining>(); },
///               .measuring = [] { return std::make_unique<SpiralMeasuring>(); }};
///     }
struct KnownModel {
  std::string name;   ///< of its commands, and in the configuration of its runs
  std::string about;  ///< for --help, without a full stop
  /// Empty for a model that is only measured.
  std::function<std::unique_ptr<ModelTraining>()> training = nullptr;
  /// Empty for a model that is only trained.
  std::function<std::unique_ptr<ModelMeasuring>()> measuring = nullptr;
};

}  // namespace pagoda::app
