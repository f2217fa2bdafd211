#include <pagoda/cli/run_command.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace run_command_test {

using testing::ScratchDirectory;
using testing::write_file;

constexpr Preset kPresets[] = {{"small", "few epochs", "epochs = 2\nlr = 0.5\narms = 7\n"}};

/// What a command line makes of the options, with a flag of the program's own.
struct Parsed {
  RunOptions options;
  int arms = 3;
};

Parsed parsed(const std::string& arguments) {
  Parsed found;
  CLI::App app("a command", "spiral");
  RunCommand command(app, {.name = "spiral", .epochs = 9}, kPresets);
  app.add_option("--arms", found.arms)->capture_default_str();
  app.parse(arguments);
  command.run([&](const RunOptions& options) {
    found.options = options;
    return RunSummary{};
  });
  return found;
}

TEST(RunCommandTest, TheCommandLineGoesBeforeTheFileAndTheFileBeforeThePreset) {
  const ScratchDirectory scratch;
  write_file(scratch / "c.toml", "lr = 0.25\nseed = 4\n");
  const std::string file = (scratch / "c.toml").string();
  EXPECT_EQ(parsed("").options.epochs, 9);
  const Parsed found = parsed("--seed 5 --preset small --config " + file);
  EXPECT_EQ(found.options.seed, 5);
  EXPECT_EQ(found.options.optimizer.lr, 0.25);
  EXPECT_EQ(found.options.epochs, 2);
  EXPECT_EQ(found.arms, 7);
  EXPECT_EQ(parsed("--arms 1 --preset small").arms, 1);
}

TEST(RunCommandTest, WhatMustStayTheSameIsKeptWithOwnFlagsAndWithoutWhatMayChange) {
  const std::string config =
      parsed("--arms 5 --log-every 3 --epochs 4 --batch-size 6").options.config;
  for (const char* line : {"model = \"spiral\"\n", "arms = 5\n", "batch-size = 6\n"})
    EXPECT_NE(config.find(line), std::string::npos) << line << config;
  for (const char* name : {"log-every", "epochs", "out", "json"})
    EXPECT_EQ(config.find(std::string(name) + " = "), std::string::npos) << name;
}

TEST(RunCommandTest, DefaultsAreKnownWhateverIsGiven) {
  const std::string defaults = parsed("--arms 5 --batch-size 6 --lr 7").options.config_defaults;
  for (const char* line : {"arms = 3\n", "batch-size = 64\n", "lr = 0.001\n", "seed = 1\n",
                           "lr-staircase = false\n", "optimizer = \"adam\"\n"})
    EXPECT_NE(defaults.find(line), std::string::npos) << line << defaults;
}

}  // namespace run_command_test
}  // namespace pagoda
