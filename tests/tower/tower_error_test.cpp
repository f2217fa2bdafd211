#include <pagoda/tower/tower_error.h>

#include <stdexcept>
#include <string>

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace tower_error_test {

template <class Thrown>
TowerError error_from(Thrown thrown) {
  return {2, "cuda:1", "backward", 341, std::make_exception_ptr(thrown)};
}

TEST(TowerErrorTest, SaysWhereAndWhat) {
  const TowerError error = error_from(std::runtime_error("out of memory"));
  EXPECT_STREQ(error.what(), "tower 2 (cuda:1), backward, step 341: out of memory");
  EXPECT_EQ(error.tower(), 2);
  EXPECT_EQ(error.device(), "cuda:1");
  EXPECT_EQ(error.phase(), "backward");
  EXPECT_EQ(error.step(), 341);
}

TEST(TowerErrorTest, KeepsWhatWasThrown) {
  EXPECT_THROW(std::rethrow_exception(error_from(std::out_of_range("x")).cause()),
               std::out_of_range);
  EXPECT_THROW(std::rethrow_exception(error_from(42).cause()), int);
}

TEST(TowerErrorTest, IsOneLine) {
  const TowerError error = error_from(std::runtime_error("first\nsecond"));
  EXPECT_STREQ(error.what(), "tower 2 (cuda:1), backward, step 341: first");
}

TEST(TowerErrorTest, LeavesLibTorchsBacktraceOut) {
  const c10::Error cause({__func__, __FILE__, 1}, "sizes differ");
  ASSERT_NE(std::string(cause.what()), "sizes differ");
  EXPECT_STREQ(error_from(cause).what(), "tower 2 (cuda:1), backward, step 341: sizes differ");
}

TEST(TowerErrorTest, TakesAnyException) {
  EXPECT_STREQ(error_from(42).what(),
               "tower 2 (cuda:1), backward, step 341: an exception that is not a std::exception");
}

}  // namespace tower_error_test
}  // namespace pagoda
