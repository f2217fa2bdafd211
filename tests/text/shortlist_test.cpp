#include <pagoda/base/error.h>
#include <pagoda/text/shortlist.h>

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace shortlist_test {

using Numbers = std::vector<std::int64_t>;

constexpr TokenId kWords = 40;

/// Word w is translated by w + 50, in the opposite order; 99 stands in every target.
PairStore word_for_word(std::int64_t count) {
  PairStore pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<TokenId> source, target{99};
    for (std::int64_t j = 0; j < 2 + i % 4; ++j)
      source.push_back(static_cast<TokenId>((i * 7 + j * j * 11) % kWords));
    for (auto token = source.rbegin(); token != source.rend(); ++token)
      target.push_back(*token + 50);
    pairs.sources.add(source);
    pairs.targets.add(target);
  }
  return pairs;
}

TEST(ShortlistTest, FindsWhatStandsForAWord) {
  const auto list = Shortlist::learn(word_for_word(2000), kWords, 100);
  for (std::int64_t word = 0; word < kWords; ++word) {
    const Numbers likely = list.tokens_for(Numbers{word}, 1);
    EXPECT_TRUE(std::count(likely.begin(), likely.end(), word + 50) == 1) << word;
  }
  EXPECT_EQ(list.parts().frequent.front(), 99);
}

TEST(ShortlistTest, GrowsWithTheCountAndTheSource) {
  const auto list = Shortlist::learn(word_for_word(500), kWords, 100);
  EXPECT_EQ(list.tokens_for({}, 1).size(), 5u);
  EXPECT_TRUE(list.tokens_for(Numbers{1, 2}, 0).empty());
  const Numbers few = list.tokens_for(Numbers{1, 2}, 2), more = list.tokens_for(Numbers{1, 2}, 7);
  EXPECT_TRUE(std::is_sorted(more.begin(), more.end()));
  EXPECT_EQ(std::adjacent_find(more.begin(), more.end()), more.end());
  EXPECT_TRUE(std::includes(more.begin(), more.end(), few.begin(), few.end()));
  EXPECT_GT(more.size(), few.size());
}

TEST(ShortlistTest, IsAFunctionOfThePairs) {
  const auto pairs = word_for_word(300);
  EXPECT_EQ(Shortlist::learn(pairs, kWords, 100).parts().targets,
            Shortlist::learn(pairs, kWords, 100).parts().targets);
}

TEST(ShortlistTest, KeepsAndReadsNoMoreThanItIsToldTo) {
  const auto list = Shortlist::learn(word_for_word(500), kWords, 100, {.kept = 3, .max_pairs = 7});
  const auto& starts = list.parts().starts;
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_LE(starts[i] - starts[i - 1], 3);
  EXPECT_EQ(list.parts().frequent.size(), 15u);
  EXPECT_THROW(Shortlist::learn(word_for_word(1), kWords, 100, {.kept = 0}), UsageError);
}

TEST(ShortlistTest, PairsOfOtherVocabulariesAreRefused) {
  EXPECT_THROW(Shortlist::learn(word_for_word(9), 100, kWords), UsageError);  // sizes turned round
  EXPECT_THROW(Shortlist::learn(word_for_word(9), 10, 100), UsageError);
}

TEST(ShortlistTest, OfNoPairsItIsEmpty) {
  const auto list = Shortlist::learn({}, kWords, 100);
  EXPECT_TRUE(list.tokens_for(Numbers{0, kWords - 1}, 100).empty());
  EXPECT_THROW(list.tokens_for(Numbers{kWords}, 1), UsageError);
  EXPECT_THROW(list.tokens_for(Numbers{-1}, 1), UsageError);
}

TEST(ShortlistTest, PartsThatCannotBeAreRefused) {
  EXPECT_NO_THROW(Shortlist({.starts = {0, 2}, .targets = {1, 9}, .frequent = {}}, 10));
  EXPECT_THROW(Shortlist({.starts = {}, .targets = {}, .frequent = {}}, 10), DataError);
  EXPECT_THROW(Shortlist({.starts = {0, 3}, .targets = {1, 9}, .frequent = {}}, 10), DataError);
  EXPECT_THROW(Shortlist({.starts = {0, 2, 1, 2}, .targets = {1, 9}, .frequent = {}}, 10),
               DataError);
  EXPECT_THROW(Shortlist({.starts = {0, 2}, .targets = {1, 10}, .frequent = {}}, 10), DataError);
  EXPECT_THROW(Shortlist({.starts = {0, 2}, .targets = {-1, 9}, .frequent = {}}, 10), DataError);
  EXPECT_THROW(Shortlist({.starts = {0, 0}, .targets = {}, .frequent = {10}}, 10), DataError);
}

}  // namespace shortlist_test
}  // namespace pagoda
