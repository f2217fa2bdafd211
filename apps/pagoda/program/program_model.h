#pragma once

#include "model/known_model.h"

namespace pagoda::app {

/// Any model that Python has exported.
KnownModel program_model();

}  // namespace pagoda::app
