#include "events/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace utf8_test {

const std::string kBad = "\xEF\xBF\xBD";

TEST(Utf8Test, KeepsValidText) {
  for (const char* text : {"", "loss", "Genauigkeit für Würfel", "准确率", "🗼", "\x7F", "\xC2\x80",
                           "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(valid_utf8(text), text);
  }
  EXPECT_EQ(valid_utf8(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Utf8Test, ReplacesEachBadByte) {
  EXPECT_EQ(valid_utf8("a\xFF z"), "a" + kBad + " z");
  EXPECT_EQ(valid_utf8("\x80"), kBad);                                   // nothing to continue
  EXPECT_EQ(valid_utf8("f\xFCr"), "f" + kBad + "r");                     // Latin-1
  EXPECT_EQ(valid_utf8("\xC0\x80"), kBad + kBad);                        // longer than needed
  EXPECT_EQ(valid_utf8("\xE0\x9F\xBF"), kBad + kBad + kBad);             // longer than needed
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), kBad + kBad + kBad);             // surrogate
  EXPECT_EQ(valid_utf8("\xF0\x8F\xBF\xBF"), kBad + kBad + kBad + kBad);  // longer than needed
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), kBad + kBad + kBad + kBad);  // above U+10FFFF
  EXPECT_EQ(valid_utf8("\xF5\x80\x80\x80"), kBad + kBad + kBad + kBad);  // above U+10FFFF
}

TEST(Utf8Test, ReplacesWhatIsCut) {
  const std::string text = "x🗼";
  EXPECT_EQ(valid_utf8(text.substr(0, 4)), "x" + kBad + kBad + kBad);
  EXPECT_EQ(valid_utf8(text.substr(0, 3) + "y"), "x" + kBad + kBad + "y");
}

}  // namespace utf8_test
}  // namespace pagoda
