#include "base/quoted_text.h"

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace quoted_text_test {

TEST(QuotedTextTest, KeepsWhatCanBeReadAndShowsTheRestAsNumbers) {
  EXPECT_EQ(quoted_text(""), "''");
  EXPECT_EQ(quoted_text("tower β"), "'tower β'");
  EXPECT_EQ(quoted_text(std::string("a\nb\0\x7f", 5)), "'a\\x0ab\\x00\\x7f'");
}

TEST(QuotedTextTest, CutsWhatIsLong) {
  EXPECT_EQ(quoted_text(std::string(120, 'x')), "'" + std::string(120, 'x') + "'");
  EXPECT_EQ(quoted_text(std::string(121, 'x')), "'" + std::string(120, 'x') + "…'");
}

}  // namespace quoted_text_test
}  // namespace pagoda
