#include "events/histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>

namespace pagoda {
namespace {

std::vector<double> make_edges() {
  std::vector<double> positive;
  for (double edge = 1e-12; edge < 1e20; edge *= 1.1) positive.push_back(edge);
  positive.push_back(DBL_MAX);
  std::vector<double> edges;
  for (auto edge = positive.rbegin(); edge != positive.rend(); ++edge) edges.push_back(-*edge);
  edges.push_back(0);
  edges.insert(edges.end(), positive.begin(), positive.end());
  return edges;
}

// The bucket of a number is found by its first 12 bits (sign, exponent, 3 bits of the fraction).
// Numbers that share them differ by less than 1/8, so that at most two edges lie among them.
// A binary search of the 1551 edges takes ten times as long (40 ns against 4).
constexpr int kDroppedBits = 20;
using FirstBuckets = std::array<std::uint16_t, 1u << (32 - kDroppedBits)>;

FirstBuckets make_first_buckets() {
  const std::vector<double>& edges = histogram_edges();
  FirstBuckets first{};
  for (std::uint32_t prefix = 0; prefix < first.size(); ++prefix) {
    const bool negative = prefix >= first.size() / 2;
    const std::uint32_t rest = negative ? (1u << kDroppedBits) - 1 : 0;
    const float lowest = std::bit_cast<float>(prefix << kDroppedBits | rest);
    if (!std::isfinite(lowest)) continue;  // never asked for
    const auto bucket = std::upper_bound(edges.begin(), edges.end(), lowest);
    first[prefix] = static_cast<std::uint16_t>(bucket - edges.begin());
  }
  return first;
}

/// The counts of all buckets; the rest of `histogram` is filled in.
std::vector<std::int64_t> count_values(std::span<const float> values, Histogram& histogram) {
  static const FirstBuckets first_buckets = make_first_buckets();
  const std::vector<double>& edges = histogram_edges();
  std::vector<std::int64_t> counts(edges.size());
  double min = DBL_MAX;
  double max = -DBL_MAX;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++histogram.non_finite;
      continue;
    }
    const double x = value;
    std::size_t bucket = first_buckets[std::bit_cast<std::uint32_t>(value) >> kDroppedBits];
    bucket += x >= edges[bucket];
    bucket += x >= edges[bucket];
    ++counts[bucket];
    min = std::min(min, x);
    max = std::max(max, x);
    histogram.sum += x;
    histogram.sum_squares += x * x;
  }
  histogram.count = static_cast<std::int64_t>(values.size()) - histogram.non_finite;
  if (histogram.count > 0) {
    histogram.min = min;
    histogram.max = max;
  }
  return counts;
}

void add_bucket(Histogram& histogram, double limit, std::int64_t count) {
  histogram.limits.push_back(limit);
  histogram.counts.push_back(static_cast<double>(count));
}

}  // namespace

const std::vector<double>& histogram_edges() {
  static const std::vector<double> edges = make_edges();
  return edges;
}

Histogram make_histogram(std::span<const float> values) {
  Histogram histogram;
  const std::vector<std::int64_t> counts = count_values(values, histogram);
  bool pending = false;  // empty buckets since the last one with values
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) {
      pending = !histogram.counts.empty();
      continue;
    }
    if (pending) add_bucket(histogram, histogram_edges()[i - 1], 0);
    add_bucket(histogram, histogram_edges()[i], counts[i]);
    pending = false;
  }
  if (histogram.counts.empty()) add_bucket(histogram, DBL_MAX, 0);
  return histogram;
}

}  // namespace pagoda
