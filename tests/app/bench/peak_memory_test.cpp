#include "bench/peak_memory.h"

#include <vector>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace peak_memory_test {

TEST(PeakMemoryTest, HasWhatTheWorkTook) {
  constexpr std::int64_t kBytes = 64 << 20;
  std::int64_t sum = 0;
  const std::int64_t peak = peak_memory_of([&] {
    const std::vector<char> memory(kBytes, 1);
    for (std::size_t i = 0; i < memory.size(); i += 4096) sum += memory[i];
  });
  EXPECT_EQ(sum, kBytes / 4096);
  EXPECT_GT(peak, kBytes);
}

}  // namespace peak_memory_test
}  // namespace pagoda::app
