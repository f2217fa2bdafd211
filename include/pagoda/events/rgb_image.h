#pragma once

#include <cstdint>
#include <span>

namespace pagoda {

/// An image whose pixels belong to somebody else and must outlive it: rows from the top, pixels
/// from the left, three bytes each (red, green, blue), without gaps.
///
/// Example: `RgbImage image{.width = 32, .height = 24, .pixels = bytes};  // 2304 bytes`
struct RgbImage {
  int width = 0;                              ///< pixels in a row
  int height = 0;                             ///< rows
  std::span<const std::uint8_t> pixels = {};  ///< red, green and blue of each pixel, row by row
};

}  // namespace pagoda
