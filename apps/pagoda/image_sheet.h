#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/events/rgb_image.h>

#include <cstdint>
#include <vector>

namespace pagoda::app {

/// Images side by side in one picture.
struct ImageSheet {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  ///< as in RgbImage

  RgbImage view() const { return {.width = width, .height = height, .pixels = pixels}; }
};

/// The first images of a data set as its first epoch gives them (distorted), eight in a row, each
/// stretched to the whole range of brightness; fewer where there are fewer.
ImageSheet first_images(const Dataset& images, int count);

}  // namespace pagoda::app
