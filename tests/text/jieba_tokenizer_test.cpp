#include <pagoda/base/error.h>
#include <pagoda/text/tokenizer.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace jieba_tokenizer_test {

#include "jieba_reference.inc"

using Tokens = std::vector<std::string>;

std::set<std::size_t> cuts_of(const Tokens& words) {
  std::set<std::size_t> cuts;
  std::size_t at = 0;
  for (const auto& word : words) cuts.insert(at += word.size());
  return cuts;
}

TEST(JiebaTokenizerTest, CutsAsPythonsJiebaDoes) {
  if (!has_jieba()) GTEST_SKIP() << "built without cppjieba";
  const auto tokenizer = make_jieba_tokenizer();
  std::size_t equal_sentences = 0;
  std::size_t cuts = 0;
  std::size_t equal_cuts = 0;
  for (const Tokens& expected : kJiebaCuts) {
    const Tokens words =
        tokenizer->tokens(std::accumulate(expected.begin(), expected.end(), std::string()));
    equal_sentences += words == expected;
    const auto ours = cuts_of(words);
    for (const std::size_t cut : cuts_of(expected)) equal_cuts += ours.contains(cut);
    cuts += expected.size();
  }
  // The two have slightly different dictionaries.
  EXPECT_GE(equal_sentences, kJiebaCuts.size() - 1);
  EXPECT_GE(static_cast<double>(equal_cuts), 0.98 * static_cast<double>(cuts));
}

TEST(JiebaTokenizerTest, ChineseComesBackWithoutSpaces) {
  if (!has_jieba()) GTEST_SKIP() << "built without cppjieba";
  const auto tokenizer = make_jieba_tokenizer();
  for (const char* line : {"我叫Tom，今年20岁", "hello world 你好", "今天天气很好。"}) {
    std::string expected = line;
    if (const auto at = expected.find(" 你"); at != std::string::npos) expected.erase(at, 1);
    EXPECT_EQ(tokenizer->text(tokenizer->tokens(line)), expected);
  }
  EXPECT_EQ(tokenizer->tokens("  "), Tokens());
}

TEST(JiebaTokenizerTest, DamagedDictionariesAreErrorsAndNotTheEnd) {
  if (!has_jieba()) GTEST_SKIP() << "built without cppjieba";
  const std::string words = "你好 10 l\n";
  for (const auto& [dictionary, model] : std::vector<std::pair<std::string, std::string>>{
           {"你好 10\n", ""},        // a column is missing
           {"", ""},                 // no words
           {"\xff\xfe 10 l\n", ""},  // not UTF-8
           {words, ""},              // no model of unknown words
           {words, "1 2 3\n"},       // one of its states is missing
           {words, "1 2 3 4\n1 2\n"}}) {
    const testing::ScratchDirectory directory;
    testing::write_file(directory / "jieba.dict.utf8", dictionary);
    testing::write_file(directory / "hmm_model.utf8", model);
    EXPECT_THROW(make_jieba_tokenizer(directory.path()), DataError) << dictionary << model;
  }
}

TEST(JiebaTokenizerTest, MissingDictionariesOrAMissingLibraryAreErrors) {
  const testing::ScratchDirectory directory;
  if (has_jieba()) {
    EXPECT_THROW(make_jieba_tokenizer(directory.path()), IoError);
  } else {
    EXPECT_THROW(make_jieba_tokenizer(), UsageError);
  }
}

}  // namespace jieba_tokenizer_test
}  // namespace pagoda
