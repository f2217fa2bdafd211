#include <pagoda/cli/number_checks.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace number_checks_test {

bool takes(const CLI::Validator& check, std::string text) { return check(text).empty(); }

TEST(NumberChecksTest, WholeNumbersOfTheRangeOnly) {
  const CLI::Validator check = whole_number(3, 11);
  for (const char* text : {"3", "7", "11", "011"}) EXPECT_TRUE(takes(check, text)) << text;
  for (const char* text :
       {"2", "12", "-3", "+3", "3.0", " 3", "3 ", "", "three", "1e1", "99999999999999999999"})
    EXPECT_FALSE(takes(check, text)) << text;
  std::string text = "12";
  EXPECT_EQ(check(text), "'12' is not a whole number from 3 to 11");
}

TEST(NumberChecksTest, CountsBeginWithOneOrNone) {
  EXPECT_FALSE(takes(count(), "0"));
  EXPECT_TRUE(takes(count(), "1"));
  EXPECT_TRUE(takes(count_or_none(), "0"));
  for (const auto& check : {count(), count_or_none()}) {
    EXPECT_TRUE(takes(check, std::to_string(kMostCount)));
    EXPECT_FALSE(takes(check, std::to_string(kMostCount + 1)));
  }
}

TEST(NumberChecksTest, SeedsAreAnySixtyFourBits) {
  EXPECT_TRUE(takes(any_whole_number(), "0"));
  EXPECT_TRUE(takes(any_whole_number(), "18446744073709551615"));
  EXPECT_FALSE(takes(any_whole_number(), "18446744073709551616"));
}

TEST(NumberChecksTest, NumbersAreFinite) {
  for (const char* text : {"0", "-1.5", ".5", "1e-300", "1.7976931348623157e308"})
    EXPECT_TRUE(takes(finite_number(), text)) << text;
  for (const char* text : {"nan", "inf", "-inf", "infinity", "1e400", "", "1x"})
    EXPECT_FALSE(takes(finite_number(), text)) << text;
}

TEST(NumberChecksTest, SecondsAreAboveZeroAndFinite) {
  for (const char* text : {"0.3", "60", "1e-3"}) EXPECT_TRUE(takes(positive_seconds(), text));
  for (const char* text : {"0", "-1", "nan", "inf", "1e9", "1s", ""})
    EXPECT_FALSE(takes(positive_seconds(), text)) << text;
}

}  // namespace number_checks_test
}  // namespace pagoda
