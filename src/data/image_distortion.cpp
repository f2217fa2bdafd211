// Plain loops over pixels: built with -O3 and without LibTorch's headers.
#include "data/image_distortion.h"

#include <pagoda/data/image_records.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "base/random_streams.h"

namespace pagoda {
namespace {

/// The row or column of the image that is seen there: 1 at -1, 30 at 32.
int mirrored(int place) {
  constexpr int kLast = kImageSide - 1;
  const int distance = std::abs(place);
  return distance > kLast ? 2 * kLast - distance : distance;
}

/// Copies one plane's crop and returns the sum of its values.
int copy_plane(const std::uint8_t* plane, const Distortion& distortion, int crop, float* out) {
  std::array<int, kImageSide> columns;
  for (int column = 0; column < crop; ++column) {
    columns[static_cast<std::size_t>(column)] =
        mirrored(distortion.left + (distortion.flip ? crop - 1 - column : column));
  }
  int sum = 0;
  for (int row = 0; row < crop; ++row) {
    const std::uint8_t* line = plane + mirrored(distortion.top + row) * kImageSide;
    for (int column = 0; column < crop; ++column) {
      const int value = line[columns[static_cast<std::size_t>(column)]];
      sum += value;
      out[row * crop + column] = static_cast<float>(value);
    }
  }
  return sum;
}

}  // namespace

void scale_image(std::span<float> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double mean = sum / count;
  const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  const auto scale = static_cast<float>(1 / std::max(deviation, 1 / std::sqrt(count)));
  const auto shift = static_cast<float>(mean);
  for (float& value : values) value = (value - shift) * scale;
}

void scale_channels(std::span<float> values) {
  // Over the 50,000 training images; to be found wherever CIFAR-10 is used.
  constexpr float kMeans[kImageChannels] = {125.307F, 122.950F, 113.865F};
  constexpr float kDeviations[kImageChannels] = {62.993F, 62.089F, 66.705F};
  const std::size_t plane = values.size() / kImageChannels;
  for (std::size_t channel = 0; channel < kImageChannels; ++channel) {
    const float mean = kMeans[channel];
    const float scale = 1 / kDeviations[channel];
    for (float& value : values.subspan(channel * plane, plane)) value = (value - mean) * scale;
  }
}

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

Distortion random_shift(int crop, int shift, const RandomStreams& streams, std::int64_t epoch,
                        std::int64_t sample) {
  SplitMix64 random(streams.sample(epoch, sample));
  const auto places = static_cast<std::uint64_t>(2 * shift + 1);
  Distortion distortion = centred(crop);
  distortion.top += static_cast<int>(random.below(places)) - shift;
  distortion.left += static_cast<int>(random.below(places)) - shift;
  SplitMix64 coin(streams.sample(/*epoch=*/0, sample));
  distortion.flip = (coin.below(2) == 1) != (epoch % 2 == 1);
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
}

}  // namespace pagoda
