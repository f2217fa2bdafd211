#include <pagoda/base/error.h>
#include <pagoda/text/tokenizer.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace tokenizer_test {

using Tokens = std::vector<std::string>;

TEST(TokenizerTest, KindsHaveNames) {
  EXPECT_EQ(tokenizer_kind("sentencepiece"), TokenizerKind::sentencepiece);
  EXPECT_EQ(tokenizer_kind("words"), TokenizerKind::words);
  EXPECT_EQ(tokenizer_kind("characters"), TokenizerKind::characters);
  EXPECT_EQ(tokenizer_kind("jieba"), TokenizerKind::jieba);
  EXPECT_THROW(tokenizer_kind("letters"), UsageError);
}

TEST(TokenizerTest, OptionsReachTheirTokenizer) {
  const auto characters = make_tokenizer({.kind = TokenizerKind::characters});
  EXPECT_EQ(characters->tokens("ab"), (Tokens{"a", "b"}));
  const auto words = make_tokenizer({.kind = TokenizerKind::words, .words = {.lower_case = true}});
  EXPECT_EQ(words->tokens("A b"), (Tokens{"a", "b"}));
  EXPECT_THROW(make_tokenizer({.model = "no such model"}), IoError);
  EXPECT_THROW(make_tokenizer({.kind = TokenizerKind::jieba, .dictionaries = "no such folder"}),
               Error);
}

}  // namespace tokenizer_test
}  // namespace pagoda
