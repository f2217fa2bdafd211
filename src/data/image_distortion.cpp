// Plain loops over pixels: built with -O3 and without LibTorch's headers.
#include "data/image_distortion.h"

#include <pagoda/data/image_records.h>

#include <algorithm>
#include <cmath>

#include "base/random_streams.h"

namespace pagoda {
namespace {

/// Copies one plane's crop and returns the sum of its values.
int copy_plane(const std::uint8_t* plane, const Distortion& distortion, int crop, float* out) {
  int sum = 0;
  for (int row = 0; row < crop; ++row) {
    const std::uint8_t* line = plane + (distortion.top + row) * kImageSide + distortion.left;
    for (int column = 0; column < crop; ++column) {
      const int value = line[distortion.flip ? crop - 1 - column : column];
      sum += value;
      out[row * crop + column] = static_cast<float>(value);
    }
  }
  return sum;
}

void standardise(float* values, int count) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    sum += values[i];
    squares += static_cast<double>(values[i]) * values[i];
  }
  const double mean = sum / count;
  const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  const auto scale =
      static_cast<float>(1 / std::max(deviation, 1 / std::sqrt(static_cast<double>(count))));
  const auto shift = static_cast<float>(mean);
  for (int i = 0; i < count; ++i) values[i] = (values[i] - shift) * scale;
}

}  // namespace

Distortion centred(int crop) {
  return {.top = (kImageSide - crop) / 2, .left = (kImageSide - crop) / 2};
}

Distortion random_distortion(int crop, std::uint64_t seed) {
  constexpr double kBrightness = 63;
  constexpr double kLeastContrast = 0.2;
  constexpr double kMostContrast = 1.8;
  SplitMix64 random(seed);
  const auto places = static_cast<std::uint64_t>(kImageSide - crop + 1);
  Distortion distortion;
  distortion.top = static_cast<int>(random.below(places));
  distortion.left = static_cast<int>(random.below(places));
  distortion.flip = random.below(2) == 1;
  distortion.brightness = static_cast<float>(kBrightness * (2 * random.uniform() - 1));
  distortion.contrast =
      static_cast<float>(kLeastContrast + (kMostContrast - kLeastContrast) * random.uniform());
  return distortion;
}

void distort(std::span<const std::uint8_t> pixels, const Distortion& distortion, int crop,
             float* out) {
  const int plane = crop * crop;
  for (int channel = 0; channel < kImageChannels; ++channel) {
    float* values = out + channel * plane;
    const int sum =
        copy_plane(pixels.data() + channel * kImageSide * kImageSide, distortion, crop, values);
    // Brightness moves the channel's mean too, so contrast leaves it where brightness has put it.
    const float mean = static_cast<float>(sum) / static_cast<float>(plane);
    const float shift = mean + distortion.brightness;
    for (int i = 0; i < plane; ++i) values[i] = (values[i] - mean) * distortion.contrast + shift;
  }
  standardise(out, kImageChannels * plane);
}

}  // namespace pagoda
