#include "cli/option_values.h"

#include <pagoda/base/error.h>
#include <pagoda/cli/flag_adder.h>

#include <cstdint>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

namespace pagoda {
namespace option_values_test {

/// An option of every type, without a value where that can be.
struct Options {
  Options() {
    FlagAdder add(app, "Options");
    whole = add.option("--whole", whole_value, "");
    natural = add.option("--natural", natural_value, "");
    number = add.option("--number", number_value, "")->check(CLI::Range(0.0, 1e300));
    word = add.word("--word", word_value, {"one", "1e5"}, "");
    list = add.list("--list", list_value, "");
    flag = add.flag("--flag", flag_value, "");
  }
  Options(const Options&) = delete;

  CLI::App app{"a command", "command"};
  std::optional<std::int64_t> whole_value;
  std::uint64_t natural_value = std::numeric_limits<std::uint64_t>::max();
  double number_value = 1.0 / 3;
  std::string word_value = "one";
  std::vector<std::string> list_value;
  bool flag_value = false;
  CLI::Option *whole, *natural, *number, *word, *list, *flag;
};

TomlEntry entry(const TomlValue& value) {
  return {.name = "x", .value = value, .text = toml_text(value)};
}

std::string refusal(const CLI::Option* option, const TomlValue& value) {
  try {
    option_words(*option, entry(value), TypeCheck::strict);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(OptionValuesTest, DefaultsHaveTheirTypesAndAllDigits) {
  const Options options;
  EXPECT_EQ(option_value(*options.whole), std::nullopt);
  EXPECT_EQ(option_value(*options.natural), TomlValue(std::string("18446744073709551615")));
  EXPECT_EQ(option_value(*options.number), TomlValue(1.0 / 3));
  EXPECT_EQ(option_value(*options.word), TomlValue(std::string("one")));
  EXPECT_EQ(option_value(*options.list), std::nullopt);
  EXPECT_EQ(option_value(*options.flag), TomlValue(false));
}

TEST(OptionValuesTest, WhatWasGivenHasTheTypeOfItsOption) {
  Options options;
  options.app.parse("--whole -3 --natural 7 --number 25 --word 1e5 --list 1 2 --flag");
  EXPECT_EQ(option_value(*options.whole), TomlValue(std::int64_t{-3}));
  EXPECT_EQ(option_value(*options.natural), TomlValue(std::int64_t{7}));
  EXPECT_EQ(option_value(*options.number), TomlValue(25.0));
  EXPECT_EQ(option_value(*options.word), TomlValue(std::string("1e5")));
  EXPECT_EQ(option_value(*options.list),
            TomlValue(std::vector<TomlValue>{std::string("1"), std::string("2")}));
  EXPECT_EQ(option_value(*options.flag), TomlValue(true));
}

TEST(OptionValuesTest, WordsAreThoseOfACommandLine) {
  const Options options;
  using Words = std::vector<std::string>;
  const auto words = [](const CLI::Option* option, const TomlValue& value) {
    return option_words(*option, entry(value), TypeCheck::strict);
  };
  EXPECT_EQ(words(options.whole, std::int64_t{-3}), Words{"-3"});
  EXPECT_EQ(words(options.natural, std::string("18446744073709551615")),
            Words{"18446744073709551615"});
  EXPECT_EQ(words(options.number, 0.5), Words{"0.5"});
  EXPECT_EQ(words(options.number, std::int64_t{2}), Words{"2"});
  EXPECT_EQ(words(options.flag, true), Words{"true"});
  EXPECT_EQ(words(options.list, std::string("a")), Words{"a"});
  EXPECT_EQ(words(options.list, std::vector<TomlValue>{std::string("a"), std::int64_t{1}}),
            (Words{"a", "1"}));
}

TEST(OptionValuesTest, OtherTypesAreRefusedWithWhatIsExpected) {
  const Options options;
  EXPECT_EQ(refusal(options.whole, 1.5), "x must be a whole number, not 1.5");
  EXPECT_EQ(refusal(options.natural, std::string("-1")), "x must be a whole number, not \"-1\"");
  EXPECT_EQ(refusal(options.natural, std::string()), "x must be a whole number, not \"\"");
  EXPECT_EQ(refusal(options.number, std::numeric_limits<double>::infinity()),
            "x must be a finite number, not inf");
  EXPECT_EQ(refusal(options.word, true), "x must be text in quotation marks, not true");
  EXPECT_EQ(refusal(options.flag, std::int64_t{1}), "x must be true or false, not 1");
  EXPECT_EQ(refusal(options.list, std::vector<TomlValue>{0.5}),
            "x must be text in quotation marks, not 0.5");
}

TEST(OptionValuesTest, ByLooksEverythingButASwitchIsTakenAsItIsWritten) {
  const Options options;
  const auto by_looks = [](const CLI::Option* option, const std::string& text) {
    const TomlEntry written{.name = "x", .value = 1e5, .text = text};
    return option_words(*option, written, TypeCheck::by_looks);
  };
  EXPECT_EQ(by_looks(options.word, "1e5"), std::vector<std::string>{"1e5"});
  EXPECT_EQ(by_looks(options.natural, "18446744073709551615"),
            std::vector<std::string>{"18446744073709551615"});
  EXPECT_THROW(by_looks(options.flag, "1e5"), UsageError);
}

}  // namespace option_values_test
}  // namespace pagoda
