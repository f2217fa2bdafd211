#include "commands/test_flags.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "support/flag_training.h"

namespace pagoda::app {
namespace test_flags_test {

using testing::FlagTraining;
using testing::run_of;

/// Another model, which has a flag of the same name and one of its own.
class OtherTraining : public FlagTraining {
 public:
  void add_test_flags(CLI::App& command) override {
    command.add_option("--data", test_data, "file (default: the run's)");
    command.add_option("--number", number, "of something (default: none)");
  }

  int number = 0;
};

class TestFlagsTest : public ::testing::Test {
 protected:
  TestFlagsTest() {
    command.add_option("RUN", run)->required();
    flags.add(command, {.name = "given",
                        .about = "",
                        .training = [] { return std::make_unique<FlagTraining>(); },
                        .measuring = nullptr});
    flags.add(command, {.name = "other",
                        .about = "",
                        .training = [] { return std::make_unique<OtherTraining>(); },
                        .measuring = nullptr});
  }

  void parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    command.parse(arguments);
  }

  std::string refusal(ModelTraining& training) const {
    try {
      flags.hand_to(training, run_of("model = \"given\"\n"));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  TestFlags flags;
  CLI::App command;
  std::string run;
};

TEST_F(TestFlagsTest, ReachTheModelOfTheRun) {
  parse({"--list", "a", "--data", "d", "runs/a", "--list", "b"});
  EXPECT_EQ(run, "runs/a");
  FlagTraining training;
  EXPECT_EQ(refusal(training), "");
  EXPECT_EQ(training.test_data, "d");
  EXPECT_EQ(training.list, (std::vector<std::string>{"a", "b"}));
}

TEST_F(TestFlagsTest, OneThatAnotherModelHasIsRefused) {
  parse({"runs/a", "--number", "7"});
  FlagTraining training;
  EXPECT_EQ(refusal(training),
            "--number does not apply to runs/a, a run of given; what applies: --data, --list");
  OtherTraining other;
  EXPECT_EQ(refusal(other), "");
  EXPECT_EQ(other.number, 7);
}

TEST_F(TestFlagsTest, AValueThatDoesNotFitIsRefused) {
  parse({"runs/a", "--number", "many", "--data", "d"});
  OtherTraining other;
  EXPECT_NE(refusal(other).find("--number"), std::string::npos) << refusal(other);
}

TEST_F(TestFlagsTest, TheHelpSaysWhichModelAFlagIsFor) {
  const std::string help = command.help();
  EXPECT_NE(help.find("given: directory (default: the run's); other: file (default: the run's)"),
            std::string::npos)
      << help;
}

}  // namespace test_flags_test
}  // namespace pagoda::app
