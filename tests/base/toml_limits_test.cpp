#include "base/toml_limits.h"

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace toml_limits_test {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// Where it is beyond the limits; nothing if it is not.
std::optional<std::size_t> place(const std::string& text) {
  const auto problem = find_beyond_limits(text);
  return problem ? std::optional(problem->offset) : std::nullopt;
}

TEST(TomlLimitsTest, AllowWhatStandsInQuotationMarksOrComments) {
  const std::string path = repeated("../", 100) + repeated("[{", 100) + " é 2020-01-01 12:30 ";
  for (const std::string& text :
       {std::string(), "a = \"" + path + "\"\n", "a = '" + path + "'\n", "# " + path + "\n",
        "a = \"\"\"\n" + path + "\n\"\" \\\"\"\" " + path + "\"\"\"\n",
        "a = '''\n" + path + "\n''" + path + "'''\n", "a = \"\\\"" + path + "\"\n"}) {
    EXPECT_EQ(place(text), std::nullopt) << text;
  }
}

TEST(TomlLimitsTest, AllowMuchThatIsNotNested) {
  for (const std::string& text : {"a = [" + repeated("0.5, ", 1000) + "]\n",
                                  repeated("a.b = 1\n", 100), repeated("[a]\n", 100)})
    EXPECT_EQ(place(text), std::nullopt) << text;
}

TEST(TomlLimitsTest, FindWhereItGetsTooDeep) {
  const std::string most = repeated("[", kMostTomlNesting);
  EXPECT_EQ(place("a = " + most), std::nullopt);
  EXPECT_EQ(place("a = " + most + "["), 4u + kMostTomlNesting);
  EXPECT_EQ(place("a = " + repeated("[\n", kMostTomlNesting + 1)), 4u + 2 * kMostTomlNesting);
  EXPECT_NE(place(repeated("{a = [", kMostTomlNesting)), std::nullopt);
  EXPECT_EQ(place("a" + repeated(".a", kMostTomlNesting)), std::nullopt);
  EXPECT_EQ(place("a" + repeated(".a", kMostTomlNesting + 1)), 0u);
  EXPECT_NE(place("a" + repeated(" . 'a'", kMostTomlNesting + 1)), std::nullopt);
}

TEST(TomlLimitsTest, FindDatesAndTimesButNoNumbers) {
  for (const std::string word :
       {"2020-01-01", "2020-", "12:30", "07:32:00.5", "1979-05-27T07:32:00Z", "+1-1", "1:"})
    EXPECT_EQ(place("a = [1, " + word + "]\n"), 8u) << word;
  for (const std::string word :
       {"1e-3", "-1", "+1.5E-7", "-inf", "+nan", "0x1f", "1_000", "a-b", "e-1-2", "lr-decay"})
    EXPECT_EQ(place("a = [1, " + word + "]\n"), std::nullopt) << word;
}

TEST(TomlLimitsTest, FindCharactersBeyondAscii) {
  EXPECT_EQ(place("a = 1\né = 2\n"), 6u);
  EXPECT_EQ(place("a = x\u00A0\n"), 5u);
}

TEST(TomlLimitsTest, EndWithTextThatDoesNot) {
  for (const std::string text :
       {"\"", "'", "\"\\", "\"\"\"", "'''", "\"\"\"\\", "#", "\"a\n[", "a = \"\"\""})
    EXPECT_EQ(place(text), std::nullopt) << text;
}

}  // namespace toml_limits_test
}  // namespace pagoda
