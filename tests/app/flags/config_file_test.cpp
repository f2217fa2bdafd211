#include "flags/config_file.h"

#include <pagoda/base/error.h>

#include <optional>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda::app {
namespace config_file_test {

/// A command with an option of every kind.
struct Command {
  Command() {
    app.add_option("--lr,--learning-rate", rate, "a number")->capture_default_str();
    app.add_option("--name", name, "a word")->capture_default_str();
    app.add_option("--steps", steps, "unset at first");
    app.add_option("--files", files, "a list");
    app.add_flag("--loud", loud, "a switch");
  }
  void parse(const std::string& arguments) { app.parse(arguments); }

  CLI::App app{"a command", "command"};
  double rate = 0.5;
  std::string name = "adam";
  std::optional<int> steps;
  std::vector<std::string> files;
  bool loud = false;
};

TEST(ConfigFileTest, TextHasEveryOptionThatHasAValueInItsOrder) {
  Command command;
  command.parse("");
  EXPECT_EQ(config_text(command.app), "lr = 0.5\nname = \"adam\"\nloud = false\n");
  Command given;
  given.parse("--name \"my own\" --steps 7 --files a --files b.txt --loud");
  EXPECT_EQ(config_text(given.app),
            "lr = 0.5\nname = \"my own\"\nsteps = 7\nfiles = [\"a\", \"b.txt\"]\nloud = true\n");
  EXPECT_EQ(config_text(given.app, {"lr", "files", "loud"}), "name = \"my own\"\nsteps = 7\n");
}

TEST(ConfigFileTest, WhatATextSaysIsReadBack) {
  Command from;
  from.parse("--learning-rate 1e-7 --name nan --steps 3 --files x --files y --loud");
  Command to;
  to.parse("");
  apply_config(to.app, config_text(from.app), "here");
  EXPECT_EQ(to.rate, 1e-7);
  EXPECT_EQ(to.name, "nan");
  EXPECT_EQ(to.steps, 3);
  EXPECT_EQ(to.files, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(to.loud);
  EXPECT_EQ(config_text(to.app), config_text(from.app));
}

TEST(ConfigFileTest, WhatWasSetBeforeStays) {
  Command command;
  command.parse("--name sgd --loud");
  apply_config(command.app, "name = \"adagrad\"\nlr = 2\nloud = false\n", "here");
  EXPECT_EQ(command.name, "sgd");
  EXPECT_EQ(command.rate, 2);
  EXPECT_TRUE(command.loud);
  apply_config(command.app, "lr = 3\n", "there");
  EXPECT_EQ(command.rate, 2) << "the first text goes before the second";
}

TEST(ConfigFileTest, ErrorsNameSourceAndEntry) {
  const auto message = [](const std::string& toml) -> std::string {
    Command command;
    command.parse("");
    try {
      apply_config(command.app, toml, "my.toml");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("batches = 2\n"), "my.toml: batches is not an option of command");
  EXPECT_EQ(message("[run]\nlr = 1\n"),
            "my.toml: the section [run] is not possible; give all options without sections");
  EXPECT_NE(message("steps = \"many\"\n").find("my.toml: "), std::string::npos);
  EXPECT_NE(message("steps = \"many\"\n").find("many"), std::string::npos);
}

TEST(ConfigFileTest, AFileIsReadOrMissed) {
  const pagoda::testing::ScratchDirectory scratch;
  Command command;
  command.parse("");
  EXPECT_THROW(apply_config_file(command.app, scratch.path() / "none.toml"), IoError);
}

TEST(ConfigFileTest, ValuesAndLinesAreFoundByTheirWholeName) {
  const std::string toml = "lr-decay = 0.9\nlr = 0.5\nname = \"a = b\"\n";
  EXPECT_EQ(config_value(toml, "lr"), "0.5");
  EXPECT_EQ(config_value(toml, "name"), "a = b");
  EXPECT_EQ(config_value(toml, "decay"), std::nullopt);
  EXPECT_EQ(without_entry(toml, "lr"), "lr-decay = 0.9\nname = \"a = b\"\n");
  EXPECT_EQ(without_entry(toml, "none"), toml);
}

}  // namespace config_file_test
}  // namespace pagoda::app
