#include <pagoda/text/builtin_pairs.h>
#include <pagoda/text/text_codec.h>

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

}  // namespace text_codec_test
}  // namespace pagoda
