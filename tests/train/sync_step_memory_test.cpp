#include <pagoda/train/sync_step.h>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/resident_memory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace sync_step_memory_test {

using testing::cpu_devices;
using testing::resident_bytes;

constexpr std::int64_t kWidth = 3500;
constexpr double kParameterBytes = static_cast<double>(4 * (kWidth + 1) * kWidth * sizeof(float));

/// 49 million parameters in layers of equal size, trained by plain descent, which has no state.
double bytes_of_steps(int count) {
  auto towers = make_towers(cpu_devices(count), [] {
    torch::nn::Sequential layers;
    for (int i = 0; i < 4; ++i) layers->push_back(torch::nn::Linear(kWidth, kWidth));
    return layers;
  });
  // The last tower to collect sees the gradients of all.
  std::vector<std::int64_t> seen(static_cast<std::size_t>(count));
  SyncStep step(towers, Sgd{}, {.on_phase = [&](const TowerJob& job) {
                  if (job.phase != std::string("collect")) return;
                  auto& largest = seen[static_cast<std::size_t>(job.tower)];
                  largest = std::max(largest, resident_bytes());
                }});
  const std::int64_t before = resident_bytes();
  const std::vector<Batch> feeds(static_cast<std::size_t>(count),
                                 {.input = torch::ones({1, kWidth}), .target = {}});
  for (int i = 0; i < 3; ++i) {
    step.run(feeds, [](torch::nn::Sequential& layers, const Batch& batch) {
      return layers->forward(batch.input).square().mean();
    });
  }
  return static_cast<double>(*std::max_element(seen.begin(), seen.end()) - before);
}

TEST(SyncStepMemoryTest, AStepAddsOneGradientForEachTower) {
  if (!testing::kMemoryIsMeasurable) GTEST_SKIP() << "built with a sanitizer";
  for (const int towers : {1, 2}) {
    EXPECT_NEAR(bytes_of_steps(towers) / kParameterBytes, towers, 0.1) << towers << " towers";
  }
}

}  // namespace sync_step_memory_test
}  // namespace pagoda
