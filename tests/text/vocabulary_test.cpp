#include <pagoda/base/error.h>
#include <pagoda/text/vocabulary.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace vocabulary_test {

using testing::ScratchDirectory;
using testing::write_file;

TEST(VocabularyTest, BeginsWithTheSpecialTokens) {
  const Vocabulary vocabulary({"a", "准"});
  EXPECT_EQ(vocabulary.size(), 6);
  EXPECT_EQ(vocabulary.id("<pad>"), kPad);
  EXPECT_EQ(vocabulary.id("<unk>"), kUnknown);
  EXPECT_EQ(vocabulary.id("<s>"), kBegin);
  EXPECT_EQ(vocabulary.id("</s>"), kEnd);
  EXPECT_EQ(vocabulary.id("准"), 5);
  EXPECT_EQ(vocabulary.token(4), "a");
  EXPECT_EQ(vocabulary.id("never seen"), kUnknown);
  EXPECT_THROW(Vocabulary({"a", "a"}), DataError);
  EXPECT_THROW(Vocabulary({""}), DataError);
}

TEST(VocabularyTest, SurvivesItsFile) {
  const ScratchDirectory directory;
  const Vocabulary vocabulary({"▁the", "准", "#"});
  vocabulary.save(directory / "v");
  EXPECT_EQ(testing::read_file(directory / "v"), "<pad>\n<unk>\n<s>\n</s>\n▁the\n准\n#\n");
  const Vocabulary loaded = Vocabulary::load(directory / "v");
  ASSERT_EQ(loaded.size(), vocabulary.size());
  for (TokenId id = 0; id < loaded.size(); ++id) EXPECT_EQ(loaded.token(id), vocabulary.token(id));
}

TEST(VocabularyTest, BadFilesNameTheLine) {
  const ScratchDirectory directory;
  const std::string head = "<pad>\n<unk>\n<s>\n</s>\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "ends after line 0"},
      {"<pad>\n<unk>\n", "ends after line 2"},
      {"<pad>\nthe\n", ":2: a vocabulary begins"},
      {head + "a\n\nb\n", ":6: an empty token"},
      {head + "a\r\r\n", ":5: the token ends in a carriage return"},
      {head + "a\nb\na\n", ":7: the token \"a\" stands here a second time"},
      {head + "\xFF\n", ":5: not UTF-8"}};
  for (const auto& [bytes, expected] : cases) {
    write_file(directory / "v", bytes);
    try {
      Vocabulary::load(directory / "v");
      ADD_FAILURE() << expected;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

TEST(TokenCounterTest, KeepsTheMostFrequentInAFixedOrder) {
  TokenCounter counter;
  for (const char* token : {"b", "c", "a", "b", "c", "b", "z", "<s>", "<s>"}) counter.add(token);
  const Vocabulary all = counter.vocabulary(100);
  ASSERT_EQ(all.size(), kSpecialTokens + 4);
  EXPECT_EQ(all.token(4) + all.token(5) + all.token(6) + all.token(7), "bcaz");
  EXPECT_EQ(counter.vocabulary(6).size(), 6);
  EXPECT_EQ(counter.vocabulary(6).id("a"), kUnknown);
  EXPECT_EQ(counter.vocabulary(100, 2).size(), kSpecialTokens + 2);
  EXPECT_THROW(counter.vocabulary(3), UsageError);
}

}  // namespace vocabulary_test
}  // namespace pagoda
