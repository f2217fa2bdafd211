#include <pagoda/base/error.h>
#include <pagoda/text/token_file.h>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace token_file_test {

using testing::read_file;
using testing::write_file;

/// Pair i has i % 7 source and i % 5 target tokens: the first has none.
PairStore pairs_of(std::int64_t count) {
  PairStore pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<TokenId>(4 + i);
    pairs.sources.add(std::vector<TokenId>(static_cast<std::size_t>(i % 7), id));
    pairs.targets.add(std::vector<TokenId>(static_cast<std::size_t>(i % 5), id + 1));
  }
  return pairs;
}

EncodedText tokens_of(std::int64_t train, std::int64_t valid) {
  return {.inputs = "source a.txt\ntarget b.txt\n",
          .notes = {"training: 7 pairs", ""},
          .train = pairs_of(train),
          .valid = pairs_of(valid),
          .sources = {"zwei Wörter", "x"},
          .references = {"two words", "y"}};
}

void expect_equal(const TokenStore& a, const TokenStore& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_TRUE(std::ranges::equal(a[i], b[i])) << i;
}

class TokenFileTest : public ::testing::Test {
 protected:
  std::string error_of(std::string_view bytes) {
    write_file(path_, bytes);
    try {
      read_token_file(path_);
    } catch (const DataError& error) {
      return error.what();
    }
    return "taken";
  }

  const testing::ScratchDirectory directory_;
  const std::filesystem::path path_ = directory_ / "tokens.bin";
};

TEST_F(TokenFileTest, GivesBackWhatWasWritten) {
  for (const std::int64_t count : {0, 1, 101, 200'003}) {  // the last takes several buffers
    const EncodedText written = tokens_of(count, count / 2);
    write_token_file(path_, written);
    const EncodedText read = read_token_file(path_);
    EXPECT_EQ(read.inputs, written.inputs);
    EXPECT_EQ(read.notes, written.notes);
    EXPECT_EQ(read.sources, written.sources);
    EXPECT_EQ(read.references, written.references);
    expect_equal(read.train.sources, written.train.sources);
    expect_equal(read.train.targets, written.train.targets);
    expect_equal(read.valid.sources, written.valid.sources);
    expect_equal(read.valid.targets, written.valid.targets);
  }
}

/// docs/formats/tokens.md, byte by byte.
TEST_F(TokenFileTest, HasTheDocumentedBytes) {
  EncodedText tokens{.inputs = "in"};
  tokens.sources = {"s"};
  tokens.references = {"t"};
  tokens.train.sources.add(std::vector<TokenId>{5, 258});
  tokens.train.targets.add(std::vector<TokenId>{6});
  write_token_file(path_, tokens);
  const auto u32 = [](int low, int high = 0) {
    return std::string{static_cast<char>(low), static_cast<char>(high), 0, 0};
  };
  const auto u64 = [&](int low) { return u32(low) + u32(0); };
  std::string expected = "PAGODATK" + u32(1) + u64(2) + "in" + u64(0);
  expected += u64(1) + u64(1) + "s" + u64(1) + u64(1) + "t";
  expected += u64(1) + u32(2) + u32(5) + u32(2, 1) + u64(1) + u32(1) + u32(6);
  expected += u64(0) + u64(0);
  const auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(expected.data()), expected.size()));
  for (int byte = 0; byte < 4; ++byte) expected += static_cast<char>(sum >> (8 * byte) & 0xFF);
  EXPECT_EQ(read_file(path_), expected);
}

TEST_F(TokenFileTest, EveryChangedByteAndEveryCutIsNoticed) {
  write_token_file(path_, tokens_of(3, 1));
  const std::string good = read_file(path_);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    EXPECT_NE(error_of(bad), "taken") << "byte " << at;
    EXPECT_NE(error_of(good.substr(0, at)), "taken") << "cut at " << at;
  }
  EXPECT_NE(error_of(good + "x").find("goes on"), std::string::npos);
  EXPECT_EQ(error_of(good), "taken");
}

TEST_F(TokenFileTest, SidesOfDifferentLengthAreRefusedAlsoWithARightChecksum) {
  EncodedText lines = tokens_of(3, 1);
  lines.references.pop_back();
  EncodedText train = tokens_of(3, 1);
  train.train.sources.add(std::vector<TokenId>{5});
  EncodedText valid = tokens_of(3, 1);
  valid.valid.targets.add(std::vector<TokenId>{5});
  for (const EncodedText* text : {&lines, &train, &valid}) {
    write_token_file(path_, *text);
    EXPECT_NE(error_of(read_file(path_)).find("sources and"), std::string::npos);
  }
}

TEST_F(TokenFileTest, AnotherVersionIsNamed) {
  write_token_file(path_, tokens_of(3, 1));
  std::string later = read_file(path_);
  later[8] = 9;
  EXPECT_NE(error_of(later).find("version 9"), std::string::npos) << error_of(later);
  EXPECT_THROW(read_token_file(directory_ / "missing"), IoError);
}

}  // namespace token_file_test
}  // namespace pagoda
