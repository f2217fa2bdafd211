#pragma once

#include <cstdint>
#include <span>

namespace pagoda {

/// One way to cut an image out of a record and change its values.
struct Distortion {
  int top = 0;           ///< first row of the crop
  int left = 0;          ///< first column of the crop
  bool flip = false;     ///< mirrored, left and right
  float brightness = 0;  ///< added to every value (0 to 255)
  float contrast = 1;    ///< factor of every value's distance from its channel's mean
};

/// The centre crop.
Distortion centred(int crop);

/// Random place and flip, brightness within ±63, contrast within 0.2 to 1.8, as in TensorFlow's
/// CIFAR-10 tutorial.
Distortion random_distortion(int crop, std::uint64_t seed);

/// Writes the distorted and standardised image: 3 planes of crop x crop values.
/// Standardised: (x - mean) / max(deviation, 1/sqrt(count)) over all values of the image.
void distort(std::span<const std::uint8_t> pixels, const Distortion& distortion, int crop,
             float* out);

}  // namespace pagoda
