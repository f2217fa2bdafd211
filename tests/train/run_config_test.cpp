#include <pagoda/base/error.h>
#include <pagoda/train/run_config.h>

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace run_config_test {

TEST(ConfigDifferencesTest, ListsEveryEntryThatDiffers) {
  EXPECT_EQ(config_differences("a = 1\nb = 2\n", "a = 1\nb = 2\n"), "");
  EXPECT_EQ(config_differences("a = 1\nb = 2\n", "b = 3\nc = 4\n"),
            "a: 1, now unset; b: 2, now 3; c: unset, now 4");
  EXPECT_EQ(config_differences("a = \"x # y\"\n", "a = \"x # z\"\n"),
            "a: \"x # y\", now \"x # z\"");
  EXPECT_EQ(config_differences("a = [\"x\", \"y\"]\n", "a = [\"x\"]\n"),
            "a: [\"x\", \"y\"], now [\"x\"]");
}

TEST(ConfigDifferencesTest, ComparesValuesAndNotHowTheyAreWritten) {
  EXPECT_EQ(config_differences("lr = 1e-3\nl2 = 1.0\nn = 0x10\n", "n = 16\nlr = 0.001\nl2 = 1\n"),
            "");
  EXPECT_EQ(config_differences("a = 'x'\nb = [ 1,2 ]  # two\n", "a = \"x\"\nb = [1, 2]\n"), "");
}

TEST(ConfigDifferencesTest, RunsThatDidNotEscapeAreTheSameWhereTheirValuesAre) {
  const std::string before =
      "data = 1e5\nout = true\nname = \"a\"b\"\nseed = 18446744073709551615\nl2 = .5\n"
      "source = [1e5, \"b\"]\nplain = \"x # y\"\n";
  const std::string now =
      "data = \"1e5\"\nout = \"true\"\nname = \"a\\\"b\"\nseed = \"18446744073709551615\"\n"
      "l2 = 0.5\nsource = [\"1e5\", \"b\"]\nplain = \"x # y\"\n";
  EXPECT_EQ(config_differences(before, now), "");
  EXPECT_EQ(config_differences("data = 1e5\n", "data = \"1e6\"\n"), "data: 1e5, now \"1e6\"");
  EXPECT_EQ(
      config_differences("seed = 18446744073709551615\n", "seed = \"18446744073709551614\"\n"),
      "seed: 18446744073709551615, now \"18446744073709551614\"");
}

TEST(ConfigDifferencesTest, TextThatIsEscapedInBothIsNotMistakenForAnother) {
  EXPECT_NE(config_differences("a = \"x\\\\y\"\n", "a = \"x\\\\\\\\y\"\n"), "");
}

TEST(RunConfigTest, LinesWithoutAValueAreNamed) {
  try {
    run_config_entries("a = 1\nhalf a line\n", "config.toml");
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "config.toml:2: 'half a line' is not a name, an equals sign and a value");
  }
}

TEST(RunConfigTest, AnOptionThatDidNotExistYetHasItsDefault) {
  const ConfigRules rules{.defaults = "rows = \"exact\"\nlr = 0.5\n", .changeable = {}};
  EXPECT_EQ(config_differences("lr = 1\n", "lr = 1\nrows = \"exact\"\n", rules), "");
  EXPECT_EQ(config_differences("lr = 1\n", "lr = 1\nrows = \"lazy\"\n", rules),
            "rows: \"exact\", now \"lazy\"");
  EXPECT_EQ(config_differences("", "lr = 0.5\nother = 1\n", rules), "other: unset, now 1");
}

TEST(RunConfigTest, WhatMayChangeIsNotCompared) {
  const ConfigRules rules{.changeable = {"epochs"}};
  EXPECT_EQ(config_differences("epochs = 1\nlr = 1\n", "lr = 1\n", rules), "");
  EXPECT_EQ(config_differences("lr = 1\n", "lr = 1\nepochs = 2\n", rules), "");
}

}  // namespace run_config_test
}  // namespace pagoda
