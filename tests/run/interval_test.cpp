#include <pagoda/base/error.h>
#include <pagoda/run/interval.h>

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace interval_test {

TEST(IntervalTest, StepsAreWholeAndEpochsNeedNotBe) {
  for (const auto& [text, count, epochs] :
       std::vector<std::tuple<std::string, double, bool>>{{"500", 500, false},
                                                          {"0", 0, false},
                                                          {"2e", 2, true},
                                                          {"0.5e", 0.5, true},
                                                          {"1e3", 1000, false},
                                                          {"1e1e", 10, true}}) {
    const Interval interval = parse_interval(text);
    EXPECT_EQ(interval.count, count) << text;
    EXPECT_EQ(interval.epochs, epochs) << text;
  }
}

TEST(IntervalTest, AnythingElseIsRefusedWithAnExample) {
  for (const char* text : {"", "e", "1.5", "-1", "-1e", "2 e", "2ee", "nan", "nane", "inf", "1e99",
                           "five", "2e ", "0x", "0x10", " 5", "+5"}) {
    try {
      parse_interval(text);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("'" + std::string(text) + "'"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("2e"), std::string::npos);
    }
  }
}

/// The steps after which the interval is due, in epochs of so many steps each.
std::vector<std::int64_t> due_steps(const std::string& text, const std::vector<int>& epochs,
                                    std::int64_t steps_per_epoch) {
  const Interval interval = parse_interval(text);
  std::vector<std::int64_t> due;
  std::int64_t step = 0;
  for (std::size_t epoch = 0; epoch < epochs.size(); ++epoch) {
    for (int i = 1; i <= epochs[epoch]; ++i) {
      const bool is_end = i == epochs[epoch];
      const DataPosition after{.epoch = static_cast<std::int64_t>(epoch) + (is_end ? 1 : 0),
                               .consumed = is_end ? 0 : 10 * i};
      if (interval.is_due(++step, after, steps_per_epoch)) due.push_back(step);
    }
  }
  return due;
}

using Steps = std::vector<std::int64_t>;

TEST(IntervalTest, StepsAreDueWhateverTheEpochs) {
  EXPECT_EQ(due_steps("4", {5, 5}, 5), (Steps{4, 8}));
  EXPECT_EQ(due_steps("1", {2, 1}, 2), (Steps{1, 2, 3}));
  EXPECT_EQ(due_steps("0", {5, 5}, 5), Steps{});
  EXPECT_EQ(due_steps("0e", {5, 5}, 5), Steps{});
}

TEST(IntervalTest, WholeEpochsAreDueWhereAnEpochEndsAlsoIfEpochsHaveDifferentNumbersOfSteps) {
  for (const std::int64_t guess : {1, 4, 100}) {  // what a resumed run takes for an epoch's steps
    EXPECT_EQ(due_steps("1e", {5, 4, 6}, guess), (Steps{5, 9, 15}));
    EXPECT_EQ(due_steps("2e", {5, 4, 6, 3}, guess), (Steps{9, 18}));
  }
}

TEST(IntervalTest, PartsOfEpochsAreDueAfterSoManySteps) {
  EXPECT_EQ(due_steps("0.5e", {6, 6}, 6), (Steps{3, 6, 9, 12}));
  EXPECT_EQ(due_steps("1.5e", {4, 4, 4}, 4), (Steps{6, 12}));
  EXPECT_EQ(due_steps("0.01e", {3}, 3), (Steps{1, 2, 3}));  // a step at least
}

TEST(StepsTest, AreTheFirstAndTheLast) {
  EXPECT_EQ(parse_steps("11:15"), (StepRange{11, 15}));
  EXPECT_EQ(parse_steps("3:3"), (StepRange{3, 3}));
  for (const char* text : {"", "3", "3:", ":3", "0:2", "3:2", "1:2:3", "1-2", "1:2 ", "a:b"})
    EXPECT_THROW(parse_steps(text), UsageError) << text;
}

TEST(IntervalTest, TextIsReadBackAsItWas) {
  for (const char* text : {"500", "0", "2e", "0.5e", "1e"})
    EXPECT_EQ(interval_text(parse_interval(text)), text);
  EXPECT_EQ(steps_text(parse_steps("11:15")), "11:15");
}

}  // namespace interval_test
}  // namespace pagoda
