#include <pagoda/text/tokenizer.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace character_tokenizer_test {

using Tokens = std::vector<std::string>;

TEST(CharacterTokenizerTest, EveryCharacterIsAToken) {
  const auto tokenizer = make_character_tokenizer();
  EXPECT_EQ(tokenizer->tokens(" 你好 é🗼  "), (Tokens{"你", "好", "▁", "é", "🗼"}));
  EXPECT_EQ(tokenizer->text(tokenizer->tokens("你好 é🗼")), "你好 é🗼");
  EXPECT_EQ(tokenizer->tokens(""), Tokens());
}

}  // namespace character_tokenizer_test
}  // namespace pagoda
