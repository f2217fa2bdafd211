#include "text/character_class.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace character_class_test {

TEST(CharacterClassTest, KnowsUnicode) {
  for (const char* space : {" ", "\t", "\u00A0", "\u3000", "\u202F"}) EXPECT_TRUE(is_space(space));
  for (const char* mark : {".", "，", "。", "«", "—", "'"}) EXPECT_TRUE(is_punctuation(mark));
  for (const char* letter : {"a", "Z", "é", "ß", "准"}) {
    EXPECT_TRUE(is_letter(letter));
    EXPECT_FALSE(is_punctuation(letter));
    EXPECT_FALSE(is_space(letter));
  }
  EXPECT_TRUE(is_digit("7"));
  EXPECT_FALSE(is_digit("a"));
  EXPECT_FALSE(is_letter("7"));
}

TEST(CharacterClassTest, LowersLettersOfEveryLength) {
  EXPECT_EQ(lower_case("ÀÉÎ Straße ABC 准 123"), "àéî straße abc 准 123");
  EXPECT_EQ(lower_case(""), "");
}

TEST(CharacterClassTest, SplitsAtAnySpace) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_at_spaces("  a  bé\tc\u00A0d\u3000准 "), (Words{"a", "bé", "c", "d", "准"}));
  EXPECT_EQ(split_at_spaces(" \t"), Words());
  EXPECT_EQ(split_at_spaces("x"), Words{"x"});
}

}  // namespace character_class_test
}  // namespace pagoda
