#include "seq2seq/learning_memory.h"

#include <limits>
#include <new>
#include <thread>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace learning_memory_test {

constexpr std::size_t kTooMuch = std::numeric_limits<std::size_t>::max() / 4;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kNewThrows = false;  // the sanitizers' own `new` ends the process
#else
constexpr bool kNewThrows = true;
#endif

void take_too_much() { ::operator delete(::operator new(kTooMuch)); }

TEST(EndWithoutMemoryDeathTest, AThreadThatGetsNoMemoryEndsTheProgramWithALine) {
  if (!kNewThrows) GTEST_SKIP() << "memory cannot be refused under a sanitizer";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const EndWithoutMemory guard;
        std::thread(take_too_much).join();
      },
      ::testing::ExitedWithCode(1), "^pagoda: out of memory while SentencePiece learned .*\n$");
}

TEST(EndWithoutMemoryTest, AfterwardsRefusedMemoryThrowsAsBefore) {
  if (!kNewThrows) GTEST_SKIP() << "memory cannot be refused under a sanitizer";
  { const EndWithoutMemory guard; }
  EXPECT_THROW(take_too_much(), std::bad_alloc);
}

}  // namespace learning_memory_test
}  // namespace pagoda::app
