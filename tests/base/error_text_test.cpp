#include <pagoda/base/error_text.h>

#include <cstdint>
#include <new>
#include <stdexcept>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace error_text_test {

template <class Thrown>
std::string text_of(Thrown thrown) {
  return error_text(std::make_exception_ptr(thrown));
}

TEST(ErrorTextTest, IsTheFirstLineOfWhatWasThrown) {
  EXPECT_EQ(text_of(std::runtime_error("first\nsecond")), "first");
  EXPECT_EQ(text_of(42), "an exception that is not a std::exception");
}

TEST(ErrorTextTest, LeavesLibTorchsBacktraceOut) {
  EXPECT_EQ(text_of(c10::Error({__func__, __FILE__, 1}, "sizes differ")), "sizes differ");
}

TEST(ErrorTextTest, SaysHowMuchMemoryCouldNotBeHadAndWhatToDo) {
  constexpr std::int64_t kElements = std::int64_t{1} << 48;  // a pebibyte of floats
  try {
    at::empty({kElements});
    FAIL() << "there is that much memory";
  } catch (...) {
    EXPECT_EQ(error_text(std::current_exception()),
              "out of memory: cannot allocate 1.0 PiB in the host's memory; take a smaller "
              "model or batch, or free memory");
  }
  EXPECT_EQ(text_of(std::bad_alloc()),
            "out of memory: an allocation in the host's memory failed; take a smaller model or "
            "batch, or free memory");
}

}  // namespace error_text_test
}  // namespace pagoda
