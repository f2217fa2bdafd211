#include <pagoda/base/utf8.h>

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

TEST(Utf8Test, FindsTheFirstBadByte) {
  EXPECT_EQ(find_bad_utf8("准确率"), std::nullopt);
  EXPECT_EQ(find_bad_utf8("准\xFF率"), 3u);
  EXPECT_EQ(find_bad_utf8("abc\xE5\x87"), 3u);
}

TEST(Utf8Test, CharactersHaveTheirNumbers) {
  const auto characters = utf8_characters("aé准🗼");
  ASSERT_EQ(characters.size(), 4u);
  const char32_t expected[] = {U'a', U'é', U'准', U'🗼'};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(code_point(characters[i]), expected[i]);
    EXPECT_EQ(utf8_of(expected[i]), characters[i]);
  }
  for (const char32_t edge : {0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    EXPECT_EQ(code_point(utf8_of(edge)), edge);
    EXPECT_EQ(find_bad_utf8(utf8_of(edge)), std::nullopt);
  }
}

}  // namespace utf8_test
}  // namespace pagoda
