#include "memory/freed_memory.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace freed_memory_test {

constexpr std::size_t kPage = 4096;

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// Pieces of the sizes that activations have, all in use at once, then freed.
void use_and_free() {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<void, Free>> pieces;
  for (const std::size_t size :
       {std::size_t{200'000}, std::size_t{3'000'000}, std::size_t{12'000'000}}) {
    pieces.emplace_back(std::malloc(size));
    std::memset(pieces.back().get(), 1, size);
  }
}

TEST(FreedMemoryTest, ComesBackWithoutPageFaultsInAnyThread) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have an allocator of their own";
#endif
  keep_freed_memory();
  std::thread tower([] {
    use_and_free();
    const long before = page_faults();
    constexpr int kSteps = 10;
    for (int step = 0; step < kSteps; ++step) use_and_free();
    EXPECT_LT(page_faults() - before, static_cast<long>(1'200'000 / kPage))
        << "less than a tenth of the largest piece once, in ten steps";
  });
  tower.join();
}

}  // namespace freed_memory_test
}  // namespace pagoda
