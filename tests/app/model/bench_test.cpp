#include "model/bench.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace bench_test {

TEST(BenchTest, EveryModeHasItsName) {
  EXPECT_EQ(bench_mode("full"), BenchMode::full);
  EXPECT_EQ(bench_mode("unsynchronised"), BenchMode::unsynchronised);
  EXPECT_EQ(bench_mode("async"), BenchMode::async);
  EXPECT_EQ(bench_mode("threads"), BenchMode::threads);
  EXPECT_EQ(bench_mode("Full"), std::nullopt);
}

TEST(BenchTest, AGlobalBatchIsDividedAndAnotherIsLeft) {
  EXPECT_EQ(for_devices({.batch_size = 7}, 3).batch_size, 7);
  EXPECT_EQ(for_devices({.batch_size = 7, .global_batch_size = 12}, 3).batch_size, 4);
  EXPECT_THROW(for_devices({.global_batch_size = 12}, 5), UsageError);
}

TEST(BenchTest, AllCoresAreThoseOfEveryDevice) {
  const std::vector<Device> devices{{.index = 0, .cores = {4, 2}}, {.index = 1, .cores = {7}}};
  EXPECT_EQ(all_cores(devices).cores, (std::vector<int>{4, 2, 7}));
  EXPECT_EQ(all_cores(devices).index, 0);
}

}  // namespace bench_test
}  // namespace pagoda::app
