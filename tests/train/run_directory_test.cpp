#include <pagoda/base/error.h>
#include <pagoda/train/run_directory.h>

#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace run_directory_test {

using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

TEST(RunDirectoryTest, HoldsConfigurationLogAndMetrics) {
  const ScratchDirectory scratch;
  {
    RunDirectory run(scratch / "run", Existing::resume, "seed = 1\n");
    run.begin_at(0);
    run.log("hello");
    run.metric(3, "loss", 0.25);
    run.flush();
  }
  EXPECT_EQ(read_file(scratch / "run/config.toml"), "seed = 1\n");
  EXPECT_EQ(read_file(scratch / "run/train.log"), "hello\n");
  EXPECT_EQ(read_file(scratch / "run/metrics.tsv"), "step\tname\tvalue\n3\tloss\t0.25\n");
}

TEST(RunDirectoryTest, GoingOnForgetsNumbersAfterTheCheckpointAndHalfALine) {
  const ScratchDirectory scratch;
  { RunDirectory run(scratch.path(), Existing::resume, ""); }
  write_file(scratch / "metrics.tsv", "step\tname\tvalue\n1\ta\t1\n2\ta\t2\n3\ta\t3\n2\ta\t2.");
  RunDirectory run(scratch.path(), Existing::resume, "");
  run.begin_at(2);
  run.flush();
  EXPECT_EQ(read_file(scratch / "metrics.tsv"), "step\tname\tvalue\n1\ta\t1\n2\ta\t2\n");
}

TEST(RunDirectoryTest, AnotherConfigurationIsRefusedWithTheDifference) {
  const ScratchDirectory scratch;
  { RunDirectory run(scratch.path(), Existing::resume, "lr = 1\nseed = 1\n"); }
  try {
    RunDirectory run(scratch.path(), Existing::resume, "lr = 2\nseed = 1\n");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("lr: 1, now 2"), std::string::npos);
  }
  write_file(scratch / "train.log", "old\n");
  RunDirectory run(scratch.path(), Existing::overwrite, "lr = 2\nseed = 1\n");
  EXPECT_EQ(read_file(scratch / "config.toml"), "lr = 2\nseed = 1\n");
  EXPECT_EQ(read_file(scratch / "train.log"), "");
}

TEST(RunDirectoryTest, TwoRunsInOneDirectoryAreRefused) {
  const ScratchDirectory scratch;
  const RunDirectory first(scratch.path(), Existing::resume, "");
  EXPECT_THROW(RunDirectory(scratch.path(), Existing::resume, ""), UsageError);
}

TEST(RunDirectoryTest, ADirectoryOfSomethingElseIsLeftAlone) {
  const ScratchDirectory scratch;
  write_file(scratch / "thesis.tex", "years of work");
  EXPECT_THROW(RunDirectory(scratch.path(), Existing::overwrite, ""), UsageError);
  EXPECT_EQ(read_file(scratch / "thesis.tex"), "years of work");
  EXPECT_THROW(RunDirectory("/dev/null/x", Existing::resume, ""), IoError);
}

TEST(ConfigDifferencesTest, ListsEveryEntryThatDiffers) {
  EXPECT_EQ(config_differences("a = 1\nb = 2\n", "a = 1\nb = 2\n"), "");
  EXPECT_EQ(config_differences("a = 1\nb = 2\n", "b = 3\nc = 4\n"),
            "a: 1, now unset; b: 2, now 3; c: unset, now 4");
}

}  // namespace run_directory_test
}  // namespace pagoda
