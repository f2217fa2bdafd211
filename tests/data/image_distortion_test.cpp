#include "data/image_distortion.h"

#include <pagoda/data/image_records.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random_streams.h"

namespace pagoda {
namespace image_distortion_test {

constexpr int kPlane = kImageSide * kImageSide;

/// Every pixel differs from its neighbours, and the channels from each other.
std::vector<std::uint8_t> test_image() {
  std::vector<std::uint8_t> pixels(kImageChannels * kPlane);
  for (int c = 0; c < kImageChannels; ++c) {
    for (int i = 0; i < kPlane; ++i) pixels[c * kPlane + i] = (i * 37 + i / 32 * 11 + c * 90) % 256;
  }
  return pixels;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Mirrored without repeating the border: … 2 1 0 1 2 … 30 31 30 29 ….
int seen_at(int place) {
  while (place < 0 || place >= kImageSide) place = place < 0 ? -place : 2 * 31 - place;
  return place;
}

/// The definition, in double precision and one step after the other.
std::vector<double> by_definition(const std::vector<std::uint8_t>& pixels,
                                  const Distortion& distortion, int crop) {
  std::vector<double> image;
  for (int c = 0; c < kImageChannels; ++c) {
    std::vector<double> channel;
    for (int row = 0; row < crop; ++row) {
      for (int column = 0; column < crop; ++column) {
        const int from = distortion.left + (distortion.flip ? crop - 1 - column : column);
        channel.push_back(
            pixels[c * kPlane + seen_at(distortion.top + row) * kImageSide + seen_at(from)] +
            distortion.brightness);
      }
    }
    const double mean = mean_of(channel);
    for (const double value : channel) image.push_back(mean + (value - mean) * distortion.contrast);
  }
  const double mean = mean_of(image);
  double variance = 0;
  for (double& value : image) {
    value -= mean;
    variance += value * value / (kImageChannels * crop * crop);
  }
  const double scale = std::max(std::sqrt(variance), 1 / std::sqrt(kImageChannels * crop * crop));
  for (double& value : image) value /= scale;
  return image;
}

std::vector<float> distorted(const std::vector<std::uint8_t>& pixels, const Distortion& distortion,
                             int crop) {
  std::vector<float> out(static_cast<std::size_t>(kImageChannels * crop * crop), NAN);
  distort(pixels, distortion, crop, out.data());
  scale_image(out);
  return out;
}

TEST(ImageDistortionTest, FollowsItsDefinition) {
  const auto image = test_image();
  struct {
    int crop;
    Distortion distortion;
  } const cases[] = {
      {32, {}},
      {28, {.top = 2, .left = 2}},
      {28, {.top = 4, .left = 0}},
      {24, {.top = 0, .left = 8, .flip = true}},
      {31, {.top = 1, .left = 1, .flip = true}},
      {28, {.top = 1, .left = 3, .brightness = 63}},
      {28, {.top = 1, .left = 3, .brightness = -63, .contrast = 0.2f}},
      {28, {.top = 1, .left = 3, .flip = true, .brightness = 20, .contrast = 1.8f}},
      {1, {.top = 31, .left = 31}},
      {32, {.top = -2, .left = 2}},
      {32, {.top = 31, .left = -31, .flip = true}},
      {28, {.top = 5, .left = -3, .flip = true}},
  };
  for (const auto& [crop, distortion] : cases) {
    const auto expected = by_definition(image, distortion, crop);
    const auto found = distorted(image, distortion, crop);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-5) << "crop " << crop << ", value " << i;
    }
  }
}

TEST(ImageDistortionTest, HasMeanZeroAndDeviationOne) {
  const auto values = distorted(test_image(), {.top = 3, .contrast = 0.5f}, 28);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / values.size(), 0, 1e-6);
  EXPECT_NEAR(squares / values.size(), 1, 1e-5);
}

TEST(ImageDistortionTest, AFlatImageBecomesZero) {
  for (const int grey : {0, 1, 77, 255}) {
    const std::vector<std::uint8_t> flat(kImageChannels * kPlane, static_cast<std::uint8_t>(grey));
    for (const Distortion& distortion :
         {Distortion{}, Distortion{.brightness = 12.3f, .contrast = 1.7f}}) {
      for (const float value : distorted(flat, distortion, 28)) ASSERT_NEAR(value, 0, 1e-3) << grey;
    }
  }
}

TEST(ImageDistortionTest, TheCentreHasEqualBorders) {
  for (const auto& [crop, border] :
       {std::pair(32, 0), std::pair(28, 2), std::pair(27, 2), std::pair(2, 15)}) {
    const Distortion centre = centred(crop);
    EXPECT_EQ(centre.top, border);
    EXPECT_EQ(centre.left, border);
    EXPECT_FALSE(centre.flip);
    EXPECT_EQ(centre.brightness, 0);
    EXPECT_EQ(centre.contrast, 1);
  }
}

TEST(ImageDistortionTest, RandomOnesFillTheirRanges) {
  constexpr int kDraws = 4000;
  std::set<std::pair<int, int>> places;
  int flips = 0;
  double brightness = 0;
  double contrast = 0;
  for (int seed = 0; seed < kDraws; ++seed) {
    const Distortion one = random_distortion(28, static_cast<std::uint64_t>(seed));
    places.insert({one.top, one.left});
    flips += one.flip ? 1 : 0;
    brightness += one.brightness / kDraws;
    contrast += one.contrast / kDraws;
    ASSERT_LE(std::abs(one.brightness), 63);
    ASSERT_GE(one.contrast, 0.2f);
    ASSERT_LE(one.contrast, 1.8f);
  }
  EXPECT_EQ(places.size(), 25u);
  EXPECT_EQ(*places.begin(), std::pair(0, 0));
  EXPECT_EQ(*places.rbegin(), std::pair(4, 4));
  // Five standard deviations around the expected values.
  EXPECT_NEAR(flips, kDraws / 2, 160);
  EXPECT_NEAR(brightness, 0, 2.9);
  EXPECT_NEAR(contrast, 1, 0.037);
}

TEST(ImageDistortionTest, ShiftsFillTheirRangeAndFlipsAlternate) {
  const RandomStreams streams(5);
  constexpr int kSamples = 2000;
  std::set<std::pair<int, int>> places;
  int flips = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const Distortion even = random_shift(30, 2, streams, 0, sample);
    places.insert({even.top, even.left});
    flips += even.flip ? 1 : 0;
    EXPECT_EQ(even.contrast, 1);
    EXPECT_EQ(even.brightness, 0);
    EXPECT_NE(random_shift(30, 2, streams, 1, sample).flip, even.flip);
    EXPECT_EQ(random_shift(30, 2, streams, 2, sample).flip, even.flip);
  }
  EXPECT_EQ(places.size(), 25u);
  EXPECT_EQ(*places.begin(), std::pair(-1, -1));
  EXPECT_EQ(*places.rbegin(), std::pair(3, 3));
  EXPECT_NEAR(flips, kSamples / 2, 112);  // five standard deviations
  const Distortion still = random_shift(28, 0, streams, 0, 1);
  EXPECT_EQ(std::pair(still.top, still.left), std::pair(2, 2));
}

TEST(ImageDistortionTest, ChannelsAreScaledByTheDataSetsOwnNumbers) {
  std::vector<float> values{125.307F,           125.307F + 62.993F, 122.950F,
                            122.950F - 62.089F, 113.865F,           113.865F + 2 * 66.705F};
  scale_channels(values);
  const float expected[] = {0, 1, 0, -1, 0, 2};
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-5) << i;
}

}  // namespace image_distortion_test
}  // namespace pagoda
