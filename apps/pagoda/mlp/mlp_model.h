#pragma once

#include "model/known_model.h"

namespace pagoda::app {

/// Equal layers, of any number and width: what the machine does with very small and very large
/// models. There is nothing to train it on.
KnownModel mlp_model();

}  // namespace pagoda::app
