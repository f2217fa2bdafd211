#include <pagoda/base/error.h>
#include <pagoda/text/builtin_pairs.h>
#include <pagoda/text/sentencepiece_training.h>
#include <pagoda/text/text_codec.h>
#include <pagoda/text/text_windows.h>

#include <numeric>

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace text_windows_test {

using testing::ScratchDirectory;

std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The bytes 'a', 'b', … of a file with one line of that length; its end makes one more.
TextWindows windows_of(std::size_t bytes, const TextWindowsOptions& options) {
  const ScratchDirectory scratch;
  std::string line;
  for (std::size_t i = 0; i < bytes; ++i) line += static_cast<char>('a' + i);
  testing::write_file(scratch / "text.txt", line);
  return TextWindows({scratch / "text.txt"}, byte_encoder(), options);
}

TEST(TextWindowsTest, WindowsLieBesideEachOtherAndTheNextTokensAreOneFurther) {
  const TextWindows data = windows_of(9, {.length = 3, .tokens = "x", .next = "y"});
  ASSERT_EQ(data.size(), 3);
  const NamedBatch batch = data.get(numbers(3));
  const at::Tensor x = at::arange('a', 'a' + 9, at::kLong).view({3, 3});
  EXPECT_TRUE(at::equal(batch.get("x"), x));
  at::Tensor y = x + 1;
  y[2][2] = '\n';
  EXPECT_TRUE(at::equal(batch.get("y"), y));
  EXPECT_EQ(batch.samples, numbers(3));
  const std::vector<std::int64_t> last{2};
  EXPECT_TRUE(at::equal(data.get(last).get("x"), x.narrow(0, 2, 1)));
  EXPECT_THROW(data.get(numbers(4)), UsageError);
}

TEST(TextWindowsTest, ATextIsAsManyWindowsAsItFills) {
  EXPECT_EQ(windows_of(5, {.length = 3}).size(), 2);  // with its end it has 6 tokens
  EXPECT_EQ(windows_of(5, {.length = 3, .next = "y"}).size(), 1);
  EXPECT_EQ(windows_of(2, {.length = 3}).size(), 1);
  EXPECT_THROW(windows_of(2, {.length = 3, .next = "y"}), DataError);
  EXPECT_THROW(windows_of(2, {.length = 0}), UsageError);
}

TEST(TextWindowsTest, SeveralFilesAreOneTextAndBadOnesAreNamed) {
  const ScratchDirectory scratch;
  testing::write_file(scratch / "a", "ab\n");
  testing::write_file(scratch / "b", "c");
  const TextWindows data({scratch / "a", scratch / "b"}, byte_encoder(), {.length = 5});
  EXPECT_TRUE(
      at::equal(data.get(numbers(1)).get("tokens"), at::tensor({97, 98, 10, 99, 10}).view({1, 5})));
  ASSERT_EQ(data.inputs().size(), 2u);
  EXPECT_EQ(data.inputs()[0].bytes, 3);
  testing::write_file(scratch / "bad", "good\n\xff\n");
  try {
    TextWindows({scratch / "bad"}, byte_encoder(), {.length = 1});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("bad:2"), std::string::npos) << error.what();
  }
  EXPECT_THROW(TextWindows({}, byte_encoder(), {}), DataError);
}

TEST(TextWindowsTest, SentencePieceGivesTheModelsOwnNumbersAndEndsLines) {
  const ScratchDirectory scratch;
  train_sentencepiece(*open_builtin_pairs(BuiltinSplit::train, 500), PairSide::both, scratch / "m",
                      {.vocab_size = 100});
  const auto pairs = open_builtin_pairs(BuiltinSplit::test, 1);
  const std::string line(pairs->next()->source);
  // A model of ours has the vocabulary's numbers.
  const TextCodec codec(make_sentencepiece_tokenizer(scratch / "m"),
                        sentencepiece_vocabulary(scratch / "m"));
  std::vector<TokenId> expected = codec.encode(line);
  expected.push_back(kEnd);
  std::vector<TokenId> found;
  sentencepiece_encoder(scratch / "m")(line, found);
  EXPECT_EQ(found, expected);
}

}  // namespace text_windows_test
}  // namespace pagoda
