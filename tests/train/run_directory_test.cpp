#include <pagoda/base/error.h>
#include <pagoda/train/run_directory.h>

#include <string>
#include <vector>

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

// What a journalling file system may leave of the end of a file that was not synced.
TEST(RunDirectoryTest, GoingOnForgetsLinesThatAPowerCutLeftBroken) {
  const ScratchDirectory scratch;
  { RunDirectory run(scratch.path(), Existing::resume, ""); }
  const std::string whole = "1\ta\t1\n1\tb\tnan\n2\ta\t-inf\n";
  const std::string zeros(5, '\0');
  write_file(scratch / "metrics.tsv", "step\tname\tvalue\n" + whole + "2\tb\n2\tb\t0.5" + zeros +
                                          "\n" + zeros + "\n\t\t\nx\ta\t1\n" + zeros);
  RunDirectory run(scratch.path(), Existing::resume, "");
  run.begin_at(2);
  EXPECT_EQ(read_file(scratch / "metrics.tsv"), "step\tname\tvalue\n" + whole);
  EXPECT_TRUE(run.has_metric("a"));
  EXPECT_FALSE(run.has_metric("b"));
  run.begin_at(1);
  EXPECT_TRUE(run.has_metric("b"));
}

TEST(RunDirectoryTest, AStartThatWasKilledWhileItWroteTheConfigurationCanBeRepeated) {
  const ScratchDirectory scratch;
  write_file(scratch / ".lock", "1234");
  write_file(scratch / "config.toml.tmp-1234-0", "lr =");
  write_file(scratch / "config.toml.tmp-1234", "lr =");
  { RunDirectory run(scratch.path(), Existing::resume, "lr = 1\n"); }
  EXPECT_EQ(scratch.names(),
            (std::vector<std::string>{".lock", "config.toml", "metrics.tsv", "train.log"}));
}

TEST(RunDirectoryTest, HalfWrittenFilesOfAKilledRunAreRemoved) {
  const ScratchDirectory scratch;
  { RunDirectory run(scratch.path(), Existing::resume, ""); }
  for (const char* directory : {"checkpoints", "vocabulary"}) {
    std::filesystem::create_directory(scratch / directory);
    write_file(scratch / directory / "kept", "");
    write_file(scratch / directory / "x.tmp-99999-3", "half");
  }
  { RunDirectory run(scratch.path(), Existing::resume, ""); }
  for (const char* directory : {"checkpoints", "vocabulary"}) {
    EXPECT_TRUE(std::filesystem::exists(scratch / directory / "kept"));
    EXPECT_FALSE(std::filesystem::exists(scratch / directory / "x.tmp-99999-3"));
  }
}

// Whatever had been removed when the process was killed, the next start removes the rest, also one
// that goes on instead of overwriting.
TEST(RunDirectoryTest, AnOverwritingThatWasCutOffIsFinished) {
  const std::vector<std::string> names{
      "checkpoints/step-1.pt", "events/e",  "vocabulary/v", "vocabulary.tmp/v", "train.log",
      "metrics.tsv",           "data.toml", "config.toml"};
  for (std::size_t removed = 0; removed <= names.size(); ++removed) {
    for (const Existing existing : {Existing::overwrite, Existing::resume}) {
      const ScratchDirectory scratch;
      for (std::size_t i = removed; i < names.size(); ++i) {
        std::filesystem::create_directories((scratch / names[i]).parent_path());
        write_file(scratch / names[i], "old\n");
      }
      write_file(scratch / ".overwriting", "");
      EXPECT_FALSE(holds_run(scratch.path()));
      { RunDirectory run(scratch.path(), existing, "new = 1\n"); }
      EXPECT_EQ(scratch.names(),
                (std::vector<std::string>{".lock", "config.toml", "metrics.tsv", "train.log"}));
      EXPECT_EQ(read_file(scratch / "config.toml"), "new = 1\n");
      EXPECT_TRUE(holds_run(scratch.path()));
      EXPECT_EQ(read_file(scratch / "train.log"), "");
    }
  }
}

TEST(RunDirectoryTest, WhatAnOverwritingThatWasCutOffLeftIsNoRun) {
  const ScratchDirectory scratch;
  EXPECT_FALSE(holds_run(scratch / "nowhere"));
  EXPECT_FALSE(holds_run(scratch.path()));
  { RunDirectory run(scratch.path(), Existing::resume, ""); }
  EXPECT_TRUE(holds_run(scratch.path()));
  write_file(scratch / ".overwriting", "");
  EXPECT_FALSE(holds_run(scratch.path()));
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

TEST(RunDirectoryTest, ADamagedConfigurationIsNamed) {
  const ScratchDirectory scratch;
  write_file(scratch / "config.toml", "lr = 1\nhalf a li");
  try {
    RunDirectory run(scratch.path(), Existing::resume, "lr = 1\n");
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with((scratch / "config.toml").string() + " is damaged ("))
        << error.what();
  }
  EXPECT_EQ(read_file(scratch / "config.toml"), "lr = 1\nhalf a li");
}

TEST(RunDirectoryTest, OtherDataIsRefusedWithTheDifference) {
  const ScratchDirectory scratch;
  const DataRecord record{.inputs = {{"train", "a.bin", 30, 7}}, .counts = {{"train-samples", 3}}};
  DataRecord other = record;
  other.inputs[0].crc32 = 8;
  const RunDirectory run(scratch.path(), Existing::resume, "");
  EXPECT_NO_THROW(run.check_data(other)) << "it has no record yet";
  EXPECT_TRUE(run.keep_data(record));
  EXPECT_FALSE(run.keep_data(other)) << "it has one now";
  EXPECT_NO_THROW(run.check_data(record));
  try {
    run.check_data(other);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), scratch.path().string() +
                                " holds a run that is trained on other data (a.bin (train): 30 "
                                "bytes, CRC-32 00000007; now 30 bytes, CRC-32 00000008); restore "
                                "what has changed, take another directory, or overwrite it");
  }
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

}  // namespace run_directory_test
}  // namespace pagoda
