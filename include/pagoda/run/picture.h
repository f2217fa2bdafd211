#pragma once

#include <pagoda/events/rgb_image.h>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// An image with its own memory.
struct Picture {
  int width = 0;                     ///< in pixels
  int height = 0;                    ///< in pixels
  std::vector<std::uint8_t> pixels;  ///< as in RgbImage

  /// A view for whatever draws the picture; it must not outlive the picture.
  RgbImage view() const { return {.width = width, .height = height, .pixels = pixels}; }
};

/// The picture in a CPU tensor of bytes [3, height, width].
Picture picture_of(const at::Tensor& channels);

}  // namespace pagoda
