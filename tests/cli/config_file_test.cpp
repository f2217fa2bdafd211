#include <pagoda/base/error.h>
#include <pagoda/base/toml.h>
#include <pagoda/cli/config_file.h>
#include <pagoda/cli/flag_adder.h>

#include <cstdint>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace config_file_test {

/// A command with an option of every kind.
struct Command {
  Command() {
    FlagAdder add(app, "Options");
    add.option("--lr,--learning-rate", rate, "a number");
    add.option("--name", name, "a word");
    CLI::Option* limited = add.option("--steps", steps, "unset at first");
    add.option("--epochs", epochs, "instead")->excludes(limited);
    add.option("--seed", seed, "any")->check(any_whole_number());
    add.list("--files", files, "a list");
    add.flag("--loud", loud, "a switch");
    CLI::Option* lines = add.option("--lines", line_count, "a count");
    add.option("--width", width, "of the lines")->needs(lines);
  }
  Command(const Command&) = delete;

  /// The words of a command line.
  void parse(std::vector<std::string> arguments = {}) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(arguments);
  }

  CLI::App app{"a command", "command"};
  double rate = 0.5;
  std::string name = "adam";
  std::optional<int> steps;
  int epochs = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> files;
  bool loud = false;
  std::optional<int> line_count;
  std::optional<double> width;
};

std::string refusal(const std::string& toml, const std::vector<std::string>& arguments = {}) {
  Command command;
  command.parse(arguments);
  try {
    apply_config(command.app, toml, "my.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ConfigFileTest, TextHasEveryOptionThatHasAValueInItsOrder) {
  Command command;
  command.parse();
  EXPECT_EQ(config_text(command.app),
            "lr = 0.5\nname = \"adam\"\nepochs = 5\nseed = 1\nloud = false\n");
  Command given;
  given.parse({"--name", "my own", "--steps", "7", "--files", "a", "--files", "b.txt", "--loud"});
  EXPECT_EQ(config_text(given.app),
            "lr = 0.5\nname = \"my own\"\nsteps = 7\nepochs = 5\nseed = 1\n"
            "files = [\"a\", \"b.txt\"]\nloud = true\n");
  EXPECT_EQ(config_text(given.app, {"lr", "files", "loud", "epochs"}),
            "name = \"my own\"\nsteps = 7\nseed = 1\n");
}

TEST(ConfigFileTest, ValuesAreWrittenByTheTypeOfTheirOptionAndNotByTheirLooks) {
  Command command;
  command.parse({"--name", "1e5", "--files", "true", "7", "a\"b\\c#d", "--lr", ".5", "--steps",
                 "0x10", "--seed", "18446744073709551615", "--loud=false"});
  EXPECT_EQ(config_text(command.app),
            "lr = 0.5\nname = \"1e5\"\nsteps = 16\nepochs = 5\nseed = \"18446744073709551615\"\n"
            "files = [\"true\", \"7\", \"a\\\"b\\\\c#d\"]\nloud = false\n");
}

TEST(ConfigFileTest, WhatATextSaysIsReadBack) {
  Command from;
  from.parse({"--learning-rate", "1e-7", "--name", "nan", "--steps", "3", "--files", "x", "y",
              "--loud", "--seed", "18446744073709551615"});
  Command to;
  to.parse();
  apply_config(to.app, config_file_text(from.app, {}), "here");
  EXPECT_EQ(to.rate, 1e-7);
  EXPECT_EQ(to.name, "nan");
  EXPECT_EQ(to.steps, 3);
  EXPECT_EQ(to.files, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(to.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(to.loud);
  EXPECT_EQ(config_file_text(to.app, {}), config_file_text(from.app, {}));
}

TEST(ConfigFileTest, AwkwardTextIsReadAsItWasWritten) {
  for (const std::string text :
       {"",         "#",    "a # b", "\"",     "\\",  "C:\\temp", "\\\"",    "'",
        "1e5",      "true", "nan",   "[a, b]", "[x]", "{}",       "%%",      "--lr",
        "a\nb = 1", "\t",   "é日本", " a ",    "=",   "a,b",      "\x01\x7f"}) {
    Command from;
    from.parse();
    apply_config(from.app,
                 "name = " + toml_text(text) + "\nfiles = [" + toml_text(text) + ", \"b\"]\n", "a");
    EXPECT_EQ(from.name, text);
    EXPECT_EQ(from.files, (std::vector<std::string>{text, "b"}));
    Command to;
    to.parse();
    apply_config(to.app, config_file_text(from.app, {}), "b");
    EXPECT_EQ(to.name, text);
    EXPECT_EQ(to.files, from.files);
    EXPECT_EQ(config_file_text(to.app, {}), config_file_text(from.app, {}));
  }
}

TEST(ConfigFileTest, NumbersAreReadExactly) {
  for (const double number :
       {1.0 / 3, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 123456789.123456789}) {
    Command from;
    from.rate = number;
    Command to;
    to.parse();
    apply_config(to.app, "lr = " + toml_text(number), "here");
    EXPECT_EQ(to.rate, number);
    apply_config(from.app, config_file_text(to.app, {}), "there");
    EXPECT_EQ(from.rate, number);
  }
}

TEST(ConfigFileTest, ACommentEndsNoText) {
  Command command;
  command.parse();
  apply_config(command.app, "name = \"run #3\" # the third\nfiles = ['a#b']#c\n", "here");
  EXPECT_EQ(command.name, "run #3");
  EXPECT_EQ(command.files, std::vector<std::string>{"a#b"});
}

TEST(ConfigFileTest, WholeNumbersAreTextWhereTextIsWanted) {
  Command command;
  command.parse();
  apply_config(command.app, "name = 2\nfiles = [1, \"b\"]\n", "here");
  EXPECT_EQ(command.name, "2");
  EXPECT_EQ(command.files, (std::vector<std::string>{"1", "b"}));
}

TEST(ConfigFileTest, WhatWasSetBeforeStays) {
  Command command;
  command.parse({"--name", "sgd", "--loud"});
  apply_config(command.app, "name = \"adagrad\"\nlr = 2\nloud = false\n", "here");
  EXPECT_EQ(command.name, "sgd");
  EXPECT_EQ(command.rate, 2);
  EXPECT_TRUE(command.loud);
  apply_below(command.app, "lr = 3\n", "there");
  EXPECT_EQ(command.rate, 2) << "the first text goes before the second";
}

TEST(ConfigFileTest, ASwitchThatIsOffGoesBeforeOneThatIsOnBelow) {
  Command command;
  command.parse();
  apply_config(command.app, "loud = false\n", "file");
  apply_below(command.app, "loud = true\n", "preset");
  EXPECT_FALSE(command.loud);
}

TEST(ConfigFileTest, OptionsThatExcludeEachOtherAreRefusedWhereverTheyComeFrom) {
  EXPECT_EQ(refusal("steps = 3\n\n  epochs = 2\n"),
            "--steps excludes --epochs (--steps is from my.toml:1:1, --epochs from my.toml:3:3)");
  EXPECT_EQ(refusal("epochs = 2\n", {"--steps", "3"}),
            "--steps excludes --epochs (--steps is from the command line, --epochs from "
            "my.toml:1:1)");
  EXPECT_EQ(refusal("epochs = 2\n", {"--epochs", "3"}), "");
  EXPECT_EQ(refusal("width = 2\n"), "--width requires --lines (--width is from my.toml:1:1)");
  EXPECT_EQ(refusal("width = 2\n", {"--lines", "3"}), "");
}

TEST(ConfigFileTest, WhatIsBelowGivesWayToWhatExcludesIt) {
  Command command;
  command.parse({"--steps", "3"});
  apply_below(command.app, "epochs = 20\nlr = 2\n", "preset");
  EXPECT_EQ(command.app.get_option("--epochs")->count(), 0u);
  EXPECT_EQ(command.rate, 2);
  EXPECT_EQ(config_file_text(command.app, {"seed", "loud", "name"}), "lr = 2\nsteps = 3\n");
}

TEST(ConfigFileTest, ErrorsNamePlaceEntryAndWhatIsExpected) {
  EXPECT_EQ(refusal("batches = 2\n"), "my.toml:1:1: batches is not an option of command");
  EXPECT_EQ(refusal("help = true\n"), "my.toml:1:1: help is not an option of command");
  EXPECT_EQ(refusal("lr = 1\n[run]\nlr = 1\n"),
            "my.toml:2:1: the section [run] is not possible; give all options without sections");
  EXPECT_EQ(refusal("a.lr = 1\n").substr(0, 12), "my.toml:1:1:");
  EXPECT_EQ(refusal("steps = \"many\"\n"),
            "my.toml:1:1: steps must be a whole number, not \"many\"");
  EXPECT_EQ(refusal("steps = \"3\"\n"), "my.toml:1:1: steps must be a whole number, not \"3\"");
  EXPECT_EQ(refusal("steps = 1.5\n"), "my.toml:1:1: steps must be a whole number, not 1.5");
  EXPECT_EQ(refusal("lr = \"0.1\"\n"), "my.toml:1:1: lr must be a finite number, not \"0.1\"");
  EXPECT_EQ(refusal("lr = nan\n"), "my.toml:1:1: lr must be a finite number, not nan");
  EXPECT_EQ(refusal("lr = -inf\n"), "my.toml:1:1: lr must be a finite number, not -inf");
  EXPECT_EQ(refusal("lr = true\n"), "my.toml:1:1: lr must be a finite number, not true");
  EXPECT_EQ(refusal("lr = true\n", {"--lr", "2"}),
            "my.toml:1:1: lr must be a finite number, not true");
  EXPECT_EQ(refusal("loud = 0\n"), "my.toml:1:1: loud must be true or false, not 0");
  EXPECT_EQ(refusal("loud = \"false\"\n"),
            "my.toml:1:1: loud must be true or false, not \"false\"");
  EXPECT_EQ(refusal("name = 1e5\n"), "my.toml:1:1: name must be text in quotation marks, not 1e5");
  EXPECT_EQ(refusal("name = true\n"),
            "my.toml:1:1: name must be text in quotation marks, not true");
  EXPECT_EQ(refusal("name = [\"a\"]\n"), "my.toml:1:1: name takes one value, not a list");
  EXPECT_EQ(refusal("files = []\n"),
            "my.toml:1:1: files is an empty list; leave it out, or give a value");
  EXPECT_EQ(refusal("lr = 1\nlearning-rate = 1\n"),
            "my.toml:2:1: learning-rate is lr, which stands in line 1");
  EXPECT_NE(refusal("steps = 12345678901\n").find("my.toml:1:1: "), std::string::npos);
  EXPECT_EQ(refusal("seed = -1\n").substr(0, 14), "my.toml:1:1: -") << refusal("seed = -1\n");
  EXPECT_NE(refusal("lr =\n").find("my.toml:1:5: 'lr =' is not TOML"), std::string::npos);
  EXPECT_NE(refusal("lr = 1\nlr = 2\n").find("my.toml:2:"), std::string::npos);
}

TEST(ConfigFileTest, AFileIsReadOrMissed) {
  const pagoda::testing::ScratchDirectory scratch;
  Command command;
  command.parse();
  EXPECT_THROW(apply_config_file(command.app, scratch.path() / "none.toml"), IoError);
  EXPECT_THROW(apply_config_file(command.app, scratch.path()), IoError);
  EXPECT_THROW(apply_config_file(command.app, "/dev/zero"), IoError) << "it has no end";
}

TEST(ConfigFileTest, AFileNamesNoOtherFile) {
  std::string config;
  CLI::App app("a command", "command");
  app.add_option("--config", config, "a file");
  EXPECT_THROW(apply_config(app, "config = \"other.toml\"\n", "my.toml"), UsageError);
}

TEST(ConfigFileTest, TheConfigurationOfARunIsReadEvenIfItWasNotEscaped) {
  Command command;
  command.parse();
  apply_run_config(command.app,
                   "model = \"lenet5\"\nname = \"a\"b\"\nseed = 18446744073709551615\nlr = .5\n"
                   "steps = 3\nepochs = 5\nfiles = 1e5\nloud = true\n");
  EXPECT_EQ(command.name, "a\"b");
  EXPECT_EQ(command.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(command.steps, 3);
  EXPECT_EQ(command.epochs, 5) << "it has the values of all options, excluded ones too";
  EXPECT_EQ(command.files, std::vector<std::string>{"1e5"});
  EXPECT_TRUE(command.loud);
}

TEST(ConfigFileTest, ValuesAreFoundByTheirWholeName) {
  const std::string toml = "lr-decay = 0.9\nlr = 0.5\nname = \"a = \\\"b\\\"\"\n";
  EXPECT_EQ(config_value(toml, "lr"), "0.5");
  EXPECT_EQ(config_value(toml, "name"), "a = \"b\"");
  EXPECT_EQ(config_value(toml, "decay"), std::nullopt);
}

TEST(ConfigFileTest, TheConfigurationOfARunIsTakenIfItIsOfThisCommand) {
  int arms = 3;
  CLI::App app("a command", "spiral");
  app.add_option("--arms", arms);
  app.parse("");
  EXPECT_THROW(apply_config(app, "model = \"lenet5\"\narms = 5\n", "c"), UsageError);
  EXPECT_THROW(apply_config(app, "model = 7\n", "c"), UsageError);
  EXPECT_EQ(arms, 3);
  apply_config(app, "model = \"spiral\"\narms = 5\n", "c");
  EXPECT_EQ(arms, 5);
}

}  // namespace config_file_test
}  // namespace pagoda
