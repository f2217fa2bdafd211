#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/run/picture.h>

namespace pagoda::app {

/// The first images of a data set as its first epoch gives them (distorted), eight in a row, each
/// stretched to the whole range of brightness; fewer where there are fewer.
Picture first_images(const Dataset& images, int count);

}  // namespace pagoda::app
