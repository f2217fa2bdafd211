#include <pagoda/base/error.h>
#include <pagoda/base/toml.h>
#include <pagoda/cli/config_file.h>

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "commands/commands.h"
#include "registry/known_models.h"

namespace pagoda::app {
namespace config_round_trip_test {

/// `pagoda train MODEL` as the program has it.
class TrainCommand {
 public:
  explicit TrainCommand(const std::string& model) {
    add_train_command(program_, action_);
    app = program_.get_subcommand("train")->get_subcommand(model);
  }

  /// What the options are after reading the text; nothing when it is refused.
  std::optional<std::string> dump_of(const std::string& toml) {
    app->clear();
    try {
      apply_config(*app, toml, "test");
    } catch (const UsageError&) {
      return std::nullopt;
    }
    return config_file_text(*app, {"config"});
  }

  CLI::App* app;

 private:
  CLI::App program_{"Pagoda", "pagoda"};
  Action action_;
};

std::vector<std::string> trained_models() {
  std::vector<std::string> names;
  for (const KnownModel& model : known_models()) {
    if (model.training) names.push_back(model.name);
  }
  return names;
}

class ConfigRoundTripTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ConfigRoundTripTest, DefaultsAreReadBack) {
  TrainCommand command(GetParam());
  const auto text = command.dump_of("");
  EXPECT_EQ(command.dump_of(*text), text);
}

TEST_P(ConfigRoundTripTest, EveryOptionIsReadBackWhateverItsValue) {
  const std::vector<TomlValue> values{true,
                                      std::int64_t{0},
                                      std::int64_t{1},
                                      std::int64_t{7},
                                      std::int64_t{123456789012},
                                      0.5,
                                      1.0 / 3,
                                      5e-324,
                                      1e300,
                                      "",
                                      "1e5",
                                      "true",
                                      "off",
                                      "18446744073709551615",
                                      "a \"quoted\" # \\name\\",
                                      "'",
                                      "two\nlines\t",
                                      "é日本\U0001F600",
                                      "[x]",
                                      "2:4",
                                      "head.*=10",
                                      std::vector<TomlValue>{"a.*=0.5", "b=2"},
                                      std::vector<TomlValue>{"a", "[b, c]", "\\\"#", "1"}};
  TrainCommand command(GetParam());
  for (const CLI::Option* option : command.app->get_options()) {
    const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
    if (name == "help" || name == "config") continue;
    int taken = 0;
    for (const TomlValue& value : values) {
      const auto text = command.dump_of(name + " = " + toml_text(value) + "\n");
      if (!text) continue;
      ++taken;
      EXPECT_EQ(command.dump_of(*text), text) << name << " = " << toml_text(value);
    }
    const bool is_word = option->get_type_name().find('{') != std::string::npos;
    EXPECT_TRUE(taken > 0 || is_word) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ConfigRoundTripTest, ::testing::ValuesIn(trained_models()));

}  // namespace config_round_trip_test
}  // namespace pagoda::app
