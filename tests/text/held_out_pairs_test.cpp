#include <pagoda/text/held_out_pairs.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace held_out_pairs_test {

std::vector<PairText> numbered(std::int64_t count) {
  std::vector<PairText> pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    pairs.push_back({"source " + std::to_string(i), "target " + std::to_string(i)});
  }
  return pairs;
}

/// The numbers of the pairs that a reader gives, both sides of which must agree.
std::vector<std::int64_t> numbers_of(PairReader& reader) {
  std::vector<std::int64_t> numbers;
  while (const auto pair = reader.next()) {
    numbers.push_back(std::stoll(std::string(pair->source.substr(7))));
    EXPECT_EQ(pair->target, "target " + std::to_string(numbers.back()));
  }
  return numbers;
}

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

TEST(HeldOutPairsTest, GiveAllButTheLastTwentiethOrThousand) {
  for (const std::int64_t count :
       {0, 1, 19, 20, 39, 999, 1000, 1001, 2003, 19'999, 20'000, 22'222}) {
    SCOPED_TRACE(count);
    const std::int64_t trained = count - std::min<std::int64_t>(1000, count / 20);
    HeldOutPairs pairs(read_pairs(numbered(count)));
    EXPECT_EQ(numbers_of(pairs), range(0, trained));
    EXPECT_EQ(pairs.report().pairs, trained);
    EXPECT_EQ(numbers_of(*read_pairs(pairs.take_held_out())), range(trained, count));
  }
}

TEST(HeldOutPairsTest, AreTheSameWhenFewerAreTrainedOn) {
  for (const std::int64_t most : {0, 1, 500, 1500, 1898, 1904}) {
    SCOPED_TRACE(most);
    HeldOutPairs pairs(read_pairs(numbered(2003)), most);
    EXPECT_EQ(numbers_of(pairs), range(0, std::min<std::int64_t>(most, 1903)));
    EXPECT_EQ(numbers_of(*read_pairs(pairs.take_held_out())), range(1903, 2003));
  }
}

TEST(HeldOutPairsTest, ReportWhatTheFilesHaveAndHowFarTheyAreRead) {
  const testing::ScratchDirectory directory;
  std::string text = "a\t\nno tab\n";
  for (int i = 0; i < 40; ++i) text += "source " + std::to_string(i) + "\ttarget\n";
  testing::write_file(directory / "p", text);
  HeldOutPairs pairs(open_pairs({.pairs = {directory / "p"}}, {.on_bad_line = OnBadLine::skip}));
  std::int64_t count = 0;
  while (pairs.next()) ++count;
  EXPECT_EQ(count, 38);
  EXPECT_EQ(pairs.report().pairs, 38);
  EXPECT_EQ(pairs.report().empty, 1);
  EXPECT_EQ(pairs.report().bad, 1);
  EXPECT_EQ(pairs.bytes_read(), static_cast<std::int64_t>(text.size()));
}

}  // namespace held_out_pairs_test
}  // namespace pagoda
