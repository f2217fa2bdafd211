#include <pagoda/text/builtin_pairs.h>
#include <pagoda/text/text_codec.h>

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace text_codec_test {

TEST(TextCodecTest, EncodesAndDecodes) {
  const TextCodec codec(make_word_tokenizer(), Vocabulary({"a", "b", "."}));
  const std::vector<TokenId> ids = codec.encode("a b. c");
  EXPECT_EQ(ids, (std::vector<TokenId>{4, 5, 6, kUnknown}));
  EXPECT_EQ(codec.decode(ids), "a b. <unk>");
  EXPECT_EQ(codec.decode(std::vector<TokenId>{kBegin, 5, kPad, 4, kEnd, 5}), "b a");
}

TEST(TextCodecTest, CountsTheSideThatIsAskedFor) {
  const testing::ScratchDirectory directory;
  testing::write_file(directory / "p", "a a b\tx\nb\tx y\n");
  const auto tokenizer = make_word_tokenizer();
  const auto size = [&](PairSide side) {
    return count_vocabulary(*open_pairs({.pairs = {directory / "p"}}), side, *tokenizer, 100)
        .size();
  };
  EXPECT_EQ(size(PairSide::source), kSpecialTokens + 2);
  EXPECT_EQ(size(PairSide::target), kSpecialTokens + 2);
  EXPECT_EQ(size(PairSide::both), kSpecialTokens + 4);
}

TEST(TextCodecTest, LeavesOutPairsThatAreTooLong) {
  const testing::ScratchDirectory directory;
  testing::write_file(directory / "p", "a\tx\na a a\tx\na\tx x x\na a\tx q\n");
  const TextCodec source(make_word_tokenizer(), Vocabulary({"a"}));
  const TextCodec target(make_word_tokenizer(), Vocabulary({"x"}));
  const auto encoded = encode_pairs(*open_pairs({.pairs = {directory / "p"}}), source, target,
                                    {.max_source_tokens = 2, .max_target_tokens = 2});
  EXPECT_EQ(encoded.pairs.size(), 2);
  EXPECT_EQ(encoded.too_long, 2);
  EXPECT_EQ(encoded.tokens, 2 + 4);
  EXPECT_EQ(encoded.unknown_tokens, 1);
  EXPECT_EQ(encoded.pairs.targets[1][1], kUnknown);
}

/// One pass must give what counting and then encoding give.
TEST(TextCodecTest, LearnsAndEncodesInOnePass) {
  const testing::ScratchDirectory directory;
  std::string text;
  for (int i = 0; i < 200; ++i) {
    for (int word = 0; word <= i % 9; ++word)
      text += "w" + std::to_string(i * (word + 3) % 37) + " ";
    text += "<s>\t";
    for (int word = 0; word <= i % 7; ++word)
      text += "w" + std::to_string(i * (word + 2) % 23) + " ";
    text += "\n";
  }
  testing::write_file(directory / "p", text);
  const auto open = [&] { return open_pairs({.pairs = {directory / "p"}}); };
  const EncodeOptions lengths{.max_source_tokens = 8, .max_target_tokens = 6};
  const std::shared_ptr<const Tokenizer> tokenizer = make_word_tokenizer();
  for (const Sides sides : {Sides::separate, Sides::joint}) {
    for (const TokenId size : {kSpecialTokens, 15, 1000}) {
      const bool joint = sides == Sides::joint;
      const auto counted = [&](PairSide side) {
        return TextCodec(
            tokenizer, count_vocabulary(*open(), joint ? PairSide::both : side, *tokenizer, size));
      };
      const TextCodec source = counted(PairSide::source);
      const TextCodec target = counted(PairSide::target);
      const EncodedPairs expected = encode_pairs(*open(), source, target, lengths);
      const LearnedPairs learned = learn_pairs(*open(), *tokenizer, sides, size, lengths);
      const EncodedPairs& encoded = learned.encoded;
      EXPECT_EQ(learned.source.size(), source.vocabulary().size());
      EXPECT_EQ(learned.target.size(), target.vocabulary().size());
      for (TokenId id = 0; id < learned.source.size(); ++id)
        EXPECT_EQ(learned.source.token(id), source.vocabulary().token(id));
      EXPECT_GT(encoded.too_long, 0);
      EXPECT_EQ(encoded.too_long, expected.too_long);
      EXPECT_EQ(encoded.tokens, expected.tokens);
      EXPECT_EQ(encoded.unknown_tokens, expected.unknown_tokens);
      ASSERT_EQ(encoded.pairs.size(), expected.pairs.size());
      for (std::int64_t i = 0; i < encoded.pairs.size(); ++i) {
        ASSERT_TRUE(std::ranges::equal(encoded.pairs.sources[i], expected.pairs.sources[i])) << i;
        ASSERT_TRUE(std::ranges::equal(encoded.pairs.targets[i], expected.pairs.targets[i])) << i;
      }
    }
  }
}

TEST(TextCodecTest, LearnsTheModelsOfBothSidesInOnePass) {
  const testing::ScratchDirectory directory;
  const auto open = [] { return open_builtin_pairs(BuiltinSplit::train, 500); };
  const SentencePieceTraining options{.vocab_size = 60, .max_lines = 300};
  train_sentencepiece(*open(), directory / "source", directory / "target", options);
  train_sentencepiece(*open(), PairSide::source, directory / "source alone", options);
  train_sentencepiece(*open(), PairSide::target, directory / "target alone", options);
  EXPECT_EQ(testing::read_file(directory / "source"),
            testing::read_file(directory / "source alone"));
  EXPECT_EQ(testing::read_file(directory / "target"),
            testing::read_file(directory / "target alone"));
}

}  // namespace text_codec_test
}  // namespace pagoda
