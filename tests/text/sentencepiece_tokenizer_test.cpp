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
  train(directory / "m", {.vocab_size = 8000});
  const auto size = sentencepiece_vocabulary(directory / "m").size();
  EXPECT_GT(size, 100);
  EXPECT_LT(size, 8000);
  train(directory / "fitting", {.vocab_size = size});
  EXPECT_EQ(sentencepiece_vocabulary(directory / "fitting").size(), size);
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
