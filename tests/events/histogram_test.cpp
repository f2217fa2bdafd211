#include "events/histogram.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace histogram_test {

using Numbers = std::vector<double>;

/// The limit of the bucket that holds the value, searched for one by one.
double limit_of(float value) {
  for (const double edge : histogram_edges()) {
    if (value < edge) return edge;
  }
  return NAN;
}

double counted(const Histogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0);
}

TEST(HistogramTest, EdgesAreThoseOfTensorFlow) {
  const Numbers& edges = histogram_edges();
  ASSERT_EQ(edges.size(), 1551u);  // 774 powers and the largest number, both signs, and 0
  EXPECT_EQ(edges.front(), -DBL_MAX);
  EXPECT_EQ(edges.back(), DBL_MAX);
  EXPECT_EQ(edges[775], 0);
  EXPECT_EQ(edges[776], 1e-12);
  EXPECT_EQ(edges[777], 1e-12 * 1.1);
  EXPECT_LT(edges[1549], 1e20);
  EXPECT_GE(edges[1549] * 1.1, 1e20);
  for (std::size_t i = 0; i < edges.size(); ++i) EXPECT_EQ(edges[i], -edges[edges.size() - 1 - i]);
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end()));
}

TEST(HistogramTest, CountsAndSums) {
  const std::vector<float> values{1, -2, 3, 3, 0.5f};
  const Histogram histogram = make_histogram(values);
  EXPECT_EQ(histogram.min, -2);
  EXPECT_EQ(histogram.max, 3);
  EXPECT_EQ(histogram.count, 5);
  EXPECT_EQ(histogram.sum, 5.5);
  EXPECT_EQ(histogram.sum_squares, 23.25);
  EXPECT_EQ(histogram.non_finite, 0);
  EXPECT_EQ(histogram.counts, (Numbers{1, 0, 1, 0, 1, 0, 2}));
  for (const float value : values) {
    EXPECT_EQ(std::ranges::count(histogram.limits, limit_of(value)), 1) << value;
  }
}

TEST(HistogramTest, EmptyBucketsEndWhereTheNextValueBegins) {
  const Histogram histogram = make_histogram(std::vector<float>{0.0f, 1.0f});
  const Numbers& edges = histogram_edges();
  const auto above = std::ranges::upper_bound(edges, 1.0);
  EXPECT_EQ(histogram.limits, (Numbers{1e-12, *(above - 1), *above}));
  EXPECT_EQ(histogram.counts, (Numbers{1, 0, 1}));
}

// Around every edge, and at both ends of the numbers that share their first bits.
TEST(HistogramTest, FindsTheBucketOfEveryNumber) {
  std::vector<float> values{0.0f, -0.0f, FLT_MIN, -FLT_MIN, FLT_MAX, -FLT_MAX};
  for (const double edge : histogram_edges()) {
    const auto near = static_cast<float>(std::clamp<double>(edge, -FLT_MAX, FLT_MAX));
    values.insert(values.end(),
                  {std::nextafter(near, -FLT_MAX), near, std::nextafter(near, FLT_MAX)});
  }
  for (std::uint32_t prefix = 0; prefix < 4096; ++prefix) {
    for (const std::uint32_t rest : {0u, 1u, 0x80000u, 0xFFFFFu}) {
      values.push_back(std::bit_cast<float>(prefix << 20 | rest));
    }
  }
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const Histogram histogram = make_histogram({&value, 1});
    ASSERT_EQ(histogram.limits, Numbers{limit_of(value)}) << value;
    ASSERT_EQ(histogram.counts, Numbers{1}) << value;
  }
}

TEST(HistogramTest, BucketsHoldEveryValueOnce) {
  for (const int size : {1, 2, 997, 10'007}) {
    std::vector<float> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = static_cast<double>(i);
      values[i] = static_cast<float>(std::sin(x) * std::exp(std::fmod(x, 90) - 45));
    }
    const Histogram histogram = make_histogram(values);
    EXPECT_EQ(counted(histogram), size);
    EXPECT_EQ(histogram.count, size);
    EXPECT_EQ(histogram.min, *std::ranges::min_element(values));
    EXPECT_EQ(histogram.max, *std::ranges::max_element(values));
    EXPECT_EQ(histogram.limits.size(), histogram.counts.size());
    EXPECT_TRUE(std::is_sorted(histogram.limits.begin(), histogram.limits.end()));
    EXPECT_EQ(histogram.limits.front(), limit_of(static_cast<float>(histogram.min)));
    EXPECT_EQ(histogram.limits.back(), limit_of(static_cast<float>(histogram.max)));
  }
}

TEST(HistogramTest, LeavesOutWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Histogram histogram =
      make_histogram(std::vector<float>{NAN, 1, infinity, -infinity, 2, -NAN});
  EXPECT_EQ(histogram.non_finite, 4);
  EXPECT_EQ(histogram.count, 2);
  EXPECT_EQ(counted(histogram), 2);
  EXPECT_EQ(histogram.min, 1);
  EXPECT_EQ(histogram.max, 2);
  EXPECT_EQ(histogram.sum, 3);
  EXPECT_EQ(histogram.sum_squares, 5);
}

TEST(HistogramTest, OfNothingIsZero) {
  for (const std::vector<float>& values : {std::vector<float>{}, std::vector<float>{NAN}}) {
    const Histogram histogram = make_histogram(values);
    EXPECT_EQ(histogram.non_finite, static_cast<std::int64_t>(values.size()));
    EXPECT_EQ(histogram.count, 0);
    EXPECT_EQ(histogram.min, 0);
    EXPECT_EQ(histogram.max, 0);
    EXPECT_EQ(histogram.limits, Numbers{DBL_MAX});
    EXPECT_EQ(histogram.counts, Numbers{0});
  }
}

}  // namespace histogram_test
}  // namespace pagoda
