#pragma once

#include "model/known_model.h"

namespace pagoda::app {

/// LeNet-5: trained on 32x32 colour images, measured on random ones.
KnownModel lenet5_model();

}  // namespace pagoda::app
