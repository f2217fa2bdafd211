#pragma once

#include <cstdint>
#include <span>

namespace pagoda {

class RandomStreams;

/// One way to cut an image out of a record and change its values.
struct Distortion {
  int top = 0;           ///< first row of the crop; rows and columns outside are mirrored
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

/// The centre crop, moved by at most `shift` pixels either way, and flipped in every other epoch
/// (alternating flips: K. Jordan, arXiv 2404.00498).
Distortion random_shift(int crop, int shift, const RandomStreams& streams, std::int64_t epoch,
                        std::int64_t sample);

/// Writes the distorted image: 3 planes of crop x crop values from 0 to 255.
void distort(std::span<const std::uint8_t> pixels, const Distortion& distortion, int crop,
             float* out);

/// (x - mean) / max(deviation, 1/sqrt(count)) over all values of an image.
void scale_image(std::span<float> values);

/// (x - mean) / deviation of each channel in CIFAR-10's training images.
void scale_channels(std::span<float> values);

}  // namespace pagoda
