#include <pagoda/base/error.h>
#include <pagoda/text/builtin_pairs.h>
#include <pagoda/text/sentencepiece_training.h>
#include <pagoda/text/text_codec.h>
#include <pagoda/text/tokenizer.h>

#include <cstdint>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace sentencepiece_tokenizer_test {

using testing::ScratchDirectory;

/// Learns from English and French numbers, dates and times.
void train(const std::filesystem::path& model, const SentencePieceTraining& options) {
  const auto pairs = open_builtin_pairs(BuiltinSplit::train, 2000);
  train_sentencepiece(*pairs, PairSide::both, model, options);
}

TEST(SentencePieceTokenizerTest, LearnsAVocabularyOfTheRightSizeAndReadsItBack) {
  const ScratchDirectory directory;
  train(directory / "m", {.vocab_size = 120, .character_coverage = 1});
  const Vocabulary vocabulary = sentencepiece_vocabulary(directory / "m");
  EXPECT_EQ(vocabulary.size(), 120);
  const TextCodec codec(make_sentencepiece_tokenizer(directory / "m"), vocabulary);
  const auto pairs = open_builtin_pairs(BuiltinSplit::test, 100);
  std::size_t tokens = 0;
  std::size_t bytes = 0;
  while (const auto pair = pairs->next()) {
    const auto ids = codec.encode(pair->target);
    EXPECT_EQ(codec.decode(ids), pair->target);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), kUnknown), 0);
    tokens += ids.size();
    bytes += pair->target.size();
  }
  EXPECT_LT(2 * tokens, bytes);
}

TEST(SentencePieceTokenizerTest, TheSameLinesGiveTheSameModelAlsoWhenDrawn) {
  const ScratchDirectory directory;
  for (const std::int64_t lines : {500, 1'000'000}) {
    train(directory / "a", {.vocab_size = 100, .max_lines = lines});
    train(directory / "b", {.vocab_size = 100, .max_lines = lines});
    EXPECT_EQ(testing::read_file(directory / "a"), testing::read_file(directory / "b"));
  }
}

TEST(SentencePieceTokenizerTest, ASmallTextGivesAsManyTokensAsItHas) {
  const ScratchDirectory directory;
  train(directory / "m", {.vocab_size = 8000, .character_coverage = 1});
  const auto size = sentencepiece_vocabulary(directory / "m").size();
  EXPECT_GT(size, 100);
  EXPECT_LT(size, 8000);
  train(directory / "fitting", {.vocab_size = size, .character_coverage = 1});
  EXPECT_EQ(sentencepiece_vocabulary(directory / "fitting").size(), size);
}

/// Lines of common letters, and once each of `rare` characters.
std::vector<std::string> lines_with(const std::vector<std::string>& rare) {
  std::vector<std::string> lines;
  for (int i = 0; i < 4000; ++i)
    lines.push_back("the cat " + std::to_string(i) + " sat on the mat");
  for (const std::string& character : rare) lines.push_back("the " + character + " sat");
  return lines;
}

std::int64_t unknown_in(const std::string& line, const std::vector<std::string>& text,
                        TokenId vocab_size) {
  const ScratchDirectory directory;
  std::size_t next = 0;
  train_sentencepiece(
      [&] {
        return next < text.size() ? std::optional<std::string_view>(text[next++]) : std::nullopt;
      },
      directory / "m", {.vocab_size = vocab_size});
  const TextCodec codec(make_sentencepiece_tokenizer(directory / "m"),
                        sentencepiece_vocabulary(directory / "m"));
  const auto ids = codec.encode(line);
  return std::count(ids.begin(), ids.end(), kUnknown);
}

TEST(SentencePieceTokenizerTest, RareLettersAreKnownAndOfManyCharactersTheUsualOnes) {
  EXPECT_EQ(unknown_in("the \u00F9", lines_with({"\u00F9"}), 400), 0);
  std::vector<std::string> many;
  for (char32_t c = 0x4E00; c < 0x4E00 + 60; ++c)
    many.push_back({static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 63)),
                    static_cast<char>(0x80 | (c & 63))});
  EXPECT_GT(unknown_in("the " + many.back(), lines_with(many), 400), 0);
}

TEST(SentencePieceTokenizerTest, RefusesWhatCannotBe) {
  const ScratchDirectory directory;
  EXPECT_THROW(train(directory / "m", {.vocab_size = 10}), DataError);
  EXPECT_THROW(train_sentencepiece([] { return std::nullopt; }, directory / "m"), DataError);
  EXPECT_TRUE(directory.names().empty());
  EXPECT_THROW(make_sentencepiece_tokenizer(directory / "none"), IoError);
  testing::write_file(directory / "junk", "no model");
  EXPECT_THROW(make_sentencepiece_tokenizer(directory / "junk"), DataError);
}

TEST(SentencePieceTokenizerTest, LeavesLibTorchsFailuresExceptions) {
  const ScratchDirectory directory;
  train(directory / "m", {.vocab_size = 120});
  make_sentencepiece_tokenizer(directory / "m");
  EXPECT_THROW(at::empty({std::int64_t{1} << 50}), c10::Error);  // a petabyte
}

}  // namespace sentencepiece_tokenizer_test
}  // namespace pagoda
