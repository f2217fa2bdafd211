#pragma once

#include <string>
#include <vector>

#include "model/known_model.h"

namespace pagoda::app {

/// All models of the program, in the order of --help.
const std::vector<KnownModel>& known_models();

/// The model of a run that can be tested.
/// Fails: UsageError that lists the models when the program does not know it.
const KnownModel& model_of(const StoredRun& run);

}  // namespace pagoda::app
