#include <pagoda/text/tokenizer.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace word_tokenizer_test {

using Tokens = std::vector<std::string>;

TEST(WordTokenizerTest, SplitsPunctuationThatDoesNotJoinWords) {
  const auto tokenizer = make_word_tokenizer();
  EXPECT_EQ(tokenizer->tokens("L'homme, près d'un porte-clés: 3.5 ou 1,000!"),
            (Tokens{"L'homme", ",", "près", "d'un", "porte-clés", ":", "3.5", "ou", "1,000", "!"}));
  EXPECT_EQ(tokenizer->tokens("'a' -b- 3."), (Tokens{"'", "a", "'", "-", "b", "-", "3", "."}));
  EXPECT_EQ(tokenizer->tokens("  "), Tokens());
}

TEST(WordTokenizerTest, LeavesWordsWholeAndLowersOnRequest) {
  const auto whole = make_word_tokenizer({.lower_case = true, .split_punctuation = false});
  EXPECT_EQ(whole->tokens("Ein Ärger, DU!"), (Tokens{"ein", "ärger,", "du!"}));
  EXPECT_EQ(whole->text(Tokens{"ein", "ärger", "!"}), "ein ärger !");
}

TEST(WordTokenizerTest, PutsPunctuationBackInPlace) {
  const auto tokenizer = make_word_tokenizer();
  for (const char* line : {"Hello, world (or not)!", "«oui», dit-il: non.", "one two"}) {
    EXPECT_EQ(tokenizer->text(tokenizer->tokens(line)), line);
  }
  EXPECT_EQ(tokenizer->text({}), "");
}

}  // namespace word_tokenizer_test
}  // namespace pagoda
