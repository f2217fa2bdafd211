#pragma once

// What the placement examples have in common: they show their result and where each part of it was
// computed, and fail when that is not what was meant.

#include <pagoda/placement/placement_log.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>

/// Prints the log and the sum; 0 when the sum is right and the log has all of the lines.
inline int show_and_check(const pagoda::PlacementLog& log, const std::vector<std::string>& lines,
                          const at::Tensor& sum, const at::Tensor& expected) {
  std::set<std::string> logged;
  for (const auto& op : log.operators()) {
    logged.insert(op.text());
    std::printf("%s\n", op.text().c_str());
  }
  for (std::int64_t row = 0; row < sum.size(0); ++row) {
    std::printf("%8.4f %8.4f\n", sum[row][0].item<float>(), sum[row][1].item<float>());
  }
  int missing = 0;
  for (const auto& line : lines) {
    if (logged.contains(line)) continue;
    std::printf("missing: %s\n", line.c_str());
    ++missing;
  }
  return missing == 0 && sum.allclose(expected, 1e-5, 1e-6) ? 0 : 1;
}
