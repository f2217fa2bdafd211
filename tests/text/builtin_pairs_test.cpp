#include <pagoda/base/error.h>
#include <pagoda/text/builtin_pairs.h>

#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

namespace pagoda {
namespace builtin_pairs_test {

constexpr std::int64_t kFirstDay = 200'000;
constexpr std::int64_t kFirstMinute = kBuiltinPairs - 24 * 60;

void expect_pair(std::int64_t number, const std::string& english, const std::string& french) {
  EXPECT_EQ(builtin_pair(number).english, english);
  EXPECT_EQ(builtin_pair(number).french, french);
}

TEST(BuiltinPairsTest, SpellsNumbersDaysAndTimes) {
  expect_pair(201, "two hundred and one", "deux cent un");
  expect_pair(kFirstDay, "Wednesday the first of January eighteen hundred",
              "mercredi premier janvier mille huit cents");
  expect_pair(kFirstMinute - 1, "Thursday the thirty-first of December twenty ninety-nine",
              "jeudi trente et un décembre deux mille quatre-vingt-dix-neuf");
  const auto at = [](int hour, int minute) { return kFirstMinute + hour * 60 + minute; };
  expect_pair(at(0, 0), "midnight", "minuit");
  expect_pair(at(0, 30), "half past midnight", "minuit et demi");
  expect_pair(at(1, 0), "one o'clock in the morning", "une heure du matin");
  expect_pair(at(9, 15), "a quarter past nine in the morning", "neuf heures et quart du matin");
  expect_pair(at(11, 59), "one minute to noon", "midi moins une");
  expect_pair(at(13, 30), "half past one in the afternoon", "une heure et demie de l'après-midi");
  expect_pair(at(15, 45), "a quarter to four in the afternoon",
              "quatre heures moins le quart de l'après-midi");
  expect_pair(at(18, 21), "twenty-one minutes past six in the evening",
              "six heures vingt et une du soir");
  expect_pair(at(23, 50), "ten to midnight", "minuit moins dix");
  EXPECT_THROW(builtin_pair(-1), UsageError);
  EXPECT_THROW(builtin_pair(kBuiltinPairs), UsageError);
}

TEST(BuiltinPairsTest, AllAreDistinctOnBothSidesAndSplitInTwo) {
  std::unordered_set<std::string> english;
  std::unordered_set<std::string> french;
  std::int64_t sizes[2] = {};
  for (const BuiltinSplit split : {BuiltinSplit::train, BuiltinSplit::test}) {
    const auto reader = open_builtin_pairs(split);
    while (const auto pair = reader->next()) {
      english.emplace(pair->source);
      french.emplace(pair->target);
      ++sizes[split == BuiltinSplit::test];
    }
    EXPECT_EQ(reader->report().pairs, sizes[split == BuiltinSplit::test]);
  }
  EXPECT_EQ(sizes[0] + sizes[1], kBuiltinPairs);
  EXPECT_EQ(sizes[1], (kBuiltinPairs + 49) / 50);
  EXPECT_EQ(static_cast<std::int64_t>(english.size()), kBuiltinPairs);
  EXPECT_EQ(static_cast<std::int64_t>(french.size()), kBuiltinPairs);
}

TEST(BuiltinPairsTest, TheFirstFewAreMixedAndAlwaysTheSame) {
  const auto reader = open_builtin_pairs(BuiltinSplit::train, 1000);
  const auto again = open_builtin_pairs(BuiltinSplit::train, 1000);
  int days = 0;
  int pairs = 0;
  while (const auto pair = reader->next()) {
    EXPECT_EQ(pair->source, again->next()->source);
    days += pair->source.find(" of ") != std::string_view::npos;
    ++pairs;
  }
  EXPECT_EQ(pairs, 1000);
  EXPECT_NEAR(days, 352, 30);
}

}  // namespace builtin_pairs_test
}  // namespace pagoda
