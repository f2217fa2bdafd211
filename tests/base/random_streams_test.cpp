#include "base/random_streams.h"

#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace random_streams_test {

// The values of the authors' own program (Vigna, https://prng.di.unimi.it/splitmix64.c), seed
// 1234567.
TEST(SplitMix64Test, DrawsThePublishedValues) {
  SplitMix64 random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
        16408922859458223821u}) {
    EXPECT_EQ(random(), expected);
  }
}

TEST(SplitMix64Test, BelowReachesEveryNumberAndNoOther) {
  SplitMix64 random(1);
  for (const std::uint64_t bound : {1u, 2u, 3u, 10u}) {
    std::set<std::uint64_t> drawn;
    for (int i = 0; i < 1000; ++i) drawn.insert(random.below(bound));
    EXPECT_EQ(drawn.size(), bound);
    EXPECT_EQ(*drawn.rbegin(), bound - 1);
  }
}

TEST(SplitMix64Test, UniformFillsTheUnitInterval) {
  constexpr int kDraws = 10'000;
  SplitMix64 random(1);
  std::vector<int> tenths(10);
  for (int i = 0; i < kDraws; ++i) {
    const double number = random.uniform();
    ASSERT_GE(number, 0);
    ASSERT_LT(number, 1);
    ++tenths[static_cast<std::size_t>(10 * number)];
  }
  for (const int count : tenths)
    EXPECT_NEAR(count, kDraws / 10, 5 * 30);  // five standard deviations
}

TEST(RandomStreamsTest, StreamIsAFunctionOfSeedAndPurpose) {
  const RandomStreams streams(7);
  const std::uint64_t before = streams.tower_step(2, 341);
  streams.sample(1, 5);
  EXPECT_EQ(streams.tower_step(2, 341), before);
  EXPECT_EQ(RandomStreams(7).tower_step(2, 341), before);
  EXPECT_EQ(streams.seed(), 7u);
}

TEST(RandomStreamsTest, NoTwoStreamsOfARunAreTheSame) {
  constexpr std::int64_t kSide = 50;
  std::vector<std::uint64_t> all;
  for (const std::uint64_t seed : {0u, 1u, 7u}) {
    const RandomStreams streams(seed);
    all.push_back(streams.initialisation());
    for (std::int64_t i = 0; i < kSide; ++i) {
      all.push_back(streams.shuffle(i));
      for (std::int64_t j = 0; j < kSide; ++j) {
        all.push_back(streams.tower_step(static_cast<int>(i), j));
        all.push_back(streams.sample(i, j));
        all.push_back(streams.micro_batch(i, j));
      }
    }
  }
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
}

}  // namespace random_streams_test
}  // namespace pagoda
