#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda {

/// How values are distributed, as TensorFlow counts them. Values that are not finite appear in
/// `non_finite` only; without finite values everything else is 0.
struct Histogram {
  double min = 0;
  double max = 0;
  double sum = 0;
  double sum_squares = 0;
  std::int64_t count = 0;
  std::int64_t non_finite = 0;

  /// Bucket i holds counts[i] values x with limits[i - 1] <= x < limits[i]. The first holds `min`
  /// and the last holds `max`, which readers take for the outer edges (TensorFlow also writes the
  /// empty buckets beyond, and TensorBoard's data server turns them inside out). Empty buckets in
  /// between are joined. Never empty: without values one bucket with none.
  std::vector<double> limits;
  std::vector<double> counts;
};

/// Edges of the buckets: 0, and ±1e-12 * 1.1^k below 1e20, and the largest double at both ends.
const std::vector<double>& histogram_edges();

/// Threads: any. Fails: never.
Histogram make_histogram(std::span<const float> values);

}  // namespace pagoda
