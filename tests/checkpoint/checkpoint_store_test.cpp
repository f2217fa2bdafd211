#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint_store.h>

#include <fstream>
#include <map>
#include <new>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/checkpoints.h"
#include "support/resident_memory.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace checkpoint_store_test {

using testing::checkpoint_of;
using testing::FullDisk;
using testing::read_file;
using testing::same;
using testing::ScratchDirectory;
using testing::write_file;

std::vector<std::int64_t> steps_of(const CheckpointStore& store) {
  std::vector<std::int64_t> steps;
  for (const auto& file : store.files()) steps.push_back(read_checkpoint(file).state.step);
  return steps;
}

Checkpoint best_of(std::int64_t step) {
  Checkpoint checkpoint = checkpoint_of(step);
  checkpoint.state.best_step = step;
  return checkpoint;
}

void damage(const std::filesystem::path& file) { write_file(file, read_file(file).substr(0, 100)); }

const auto ignored = [](const std::string&) {};

TEST(CheckpointStoreTest, KeepsTheNewestAndTheBest) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch / "checkpoints", {.keep_last = 2});
  EXPECT_FALSE(store.load_newest(ignored));
  for (const std::int64_t step : {5, 10, 15, 100})
    store.save(step == 10 ? best_of(step) : checkpoint_of(step));
  store.wait();
  EXPECT_EQ(steps_of(store), (std::vector<std::int64_t>{100, 15}));
  EXPECT_EQ(read_checkpoint(store.best_file()).state.step, 10);
  EXPECT_TRUE(same(*store.load_newest(ignored), checkpoint_of(100)));
}

TEST(CheckpointStoreTest, GoesBackToTheOneBeforeADamagedOneAndSaysSo) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  for (const std::int64_t step : {1, 2, 3}) store.save(checkpoint_of(step));
  store.wait();
  const auto files = store.files();
  write_file(files[0], read_file(files[0]).substr(0, 100));
  std::string third = read_file(files[1]);
  third[third.size() / 2] ^= 1;
  write_file(files[1], third);
  std::vector<std::string> lines;
  const auto newest = store.load_newest([&](const std::string& line) { lines.push_back(line); });
  ASSERT_TRUE(newest);
  EXPECT_LE(newest->state.step, 2);  // the flipped bit may lie in padding, which holds no value
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines[0].find(files[0].string()), std::string::npos);
}

// The process may be killed when the newest checkpoint is written and best.pt is not.
TEST(CheckpointStoreTest, TheBestIsKnownAlsoWhereItsCopyIsStaleOrMissing) {
  for (const bool missing : {false, true}) {
    const ScratchDirectory scratch;
    CheckpointStore store(scratch.path());
    store.save(best_of(1));
    store.wait();
    const std::string stale = read_file(store.best_file());
    store.save(best_of(2));
    store.wait();
    write_file(store.best_file(), stale);
    if (missing) std::filesystem::remove(store.best_file());

    EXPECT_EQ(store.load_best(ignored)->state.step, 2);
    EXPECT_EQ(store.recover(ignored)->state.step, 2);
    EXPECT_TRUE(same(read_checkpoint(store.best_file()), best_of(2)));
    store.save(checkpoint_of(3));
    store.wait();
    EXPECT_EQ(store.load_best(ignored)->state.step, 2);
  }
}

TEST(CheckpointStoreTest, WithoutATestThereIsNoBest) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  EXPECT_FALSE(store.load_best(ignored));
  Checkpoint untested = checkpoint_of(0);
  untested.state.best.reset();
  untested.state.best_step = 0;
  store.save(untested);
  store.wait();
  EXPECT_FALSE(store.load_best(ignored));
  EXPECT_EQ(store.recover(ignored)->state.step, 0);
  EXPECT_FALSE(std::filesystem::exists(store.best_file()));
}

TEST(CheckpointStoreTest, WhereAllOthersAreDamagedTheBestIsRead) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  store.save(best_of(1));
  store.save(checkpoint_of(2));
  store.wait();
  for (const auto& file : store.files()) damage(file);
  EXPECT_EQ(store.load_newest(ignored)->state.step, 1);
  EXPECT_EQ(store.files().size(), 2u);  // looking changes nothing
}

TEST(CheckpointStoreTest, WhereAllAreDamagedNothingIsChangedAndTheErrorNamesThem) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  store.save(best_of(1));
  store.save(checkpoint_of(2));
  store.wait();
  std::vector<std::filesystem::path> all = store.files();
  all.push_back(store.best_file());
  for (const auto& file : all) damage(file);
  const auto names = scratch.names();
  try {
    store.recover(ignored);
    FAIL() << "went on from nothing";
  } catch (const DataError& error) {
    const std::string message = error.what();
    for (const auto& file : all) EXPECT_NE(message.find(file), std::string::npos) << message;
    EXPECT_NE(message.find("another directory"), std::string::npos) << message;
  }
  EXPECT_EQ(scratch.names(), names);
}

TEST(CheckpointStoreTest, DamagedOnesAreSetAsideSoThatNewOnesAreNotTakenForOld) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path(), {.keep_last = 2});
  for (const std::int64_t step : {1, 50}) store.save(checkpoint_of(step));
  store.wait();
  const auto damaged = store.files().front();
  damage(damaged);
  write_file(scratch / "step-0000000050.pt.tmp-99999-0", "half");
  EXPECT_EQ(store.recover(ignored)->state.step, 1);
  for (const std::int64_t step : {2, 3, 4}) store.save(checkpoint_of(step));
  store.wait();
  EXPECT_EQ(steps_of(store), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"step-0000000003.pt", "step-0000000004.pt",
                                                       "step-0000000050.pt.damaged"}));
}

std::map<std::string, std::string> contents_of(const ScratchDirectory& scratch) {
  std::map<std::string, std::string> contents;
  for (const auto& name : scratch.names()) contents[name] = read_file(scratch / name);
  return contents;
}

TEST(CheckpointStoreTest, OneOfANewerFormatIsNeitherPassedOverNorTouched) {
  for (const char* newer : {"step-0000000002.pt", "step-0000000003.pt", "best.pt"}) {
    const ScratchDirectory scratch;
    CheckpointStore store(scratch.path(), {.keep_last = 9});
    store.save(checkpoint_of(1));
    store.save(checkpoint_of(2));
    store.save(best_of(3));
    store.wait();
    testing::write_newer_checkpoint(scratch / newer);
    if (newer == std::string("step-0000000002.pt")) damage(scratch / "step-0000000003.pt");
    const auto before = contents_of(scratch);
    const std::string message =
        testing::message_of<NewerFormatError>([&] { store.recover(ignored); });
    EXPECT_NE(message.find(scratch / newer), std::string::npos) << newer << ": " << message;
    EXPECT_EQ(contents_of(scratch), before) << newer;
  }
}

TEST(CheckpointStoreTest, ANewerFormatOfTheBestIsNotOverwrittenByALaterBest) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  store.save(checkpoint_of(1));
  store.wait();
  testing::write_newer_checkpoint(store.best_file());
  EXPECT_THROW(store.recover(ignored), NewerFormatError);
}

/// While it lives, the process cannot get more than `bytes` of address space besides what it has.
class LittleMemory {
 public:
  explicit LittleMemory(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlimit limit{.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes,
                       .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

TEST(CheckpointStoreTest, MemoryThatRunsOutIsNotDamage) {
  if (!testing::kMemoryIsMeasurable) GTEST_SKIP() << "a sanitizer ends the process then";
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  store.save(checkpoint_of(1));
  Checkpoint large = checkpoint_of(2);
  constexpr std::int64_t kMegabytes = 64;  // beyond what malloc takes from its heap
  large.model[0].tensor = torch::zeros({kMegabytes << 20}, torch::kByte);
  store.save(large);
  store.wait();
  large = {};
  for (const std::int64_t room : {kMegabytes / 4, 3 * kMegabytes / 2, 4 * kMegabytes}) {
    SCOPED_TRACE(room);
    const LittleMemory little(static_cast<rlim_t>(room) << 20);
    try {
      EXPECT_EQ(store.recover(ignored)->state.step, 2);
      EXPECT_GT(room, kMegabytes);
    } catch (const std::bad_alloc&) {
      EXPECT_LT(room, kMegabytes);
    }
  }
  EXPECT_EQ(scratch.names(),
            (std::vector<std::string>{"step-0000000001.pt", "step-0000000002.pt"}));
}

TEST(CheckpointBytesTest, MemoryThatRunsOutIsAnExceptionAndNotTheEnd) {
  if (!testing::kMemoryIsMeasurable) GTEST_SKIP() << "a sanitizer ends the process then";
  Checkpoint large = checkpoint_of(2);
  constexpr std::int64_t kMegabytes = 64;
  large.model[0].tensor = torch::zeros({kMegabytes << 20}, torch::kByte);
  for (const std::int64_t room : {kMegabytes / 4, 4 * kMegabytes}) {
    SCOPED_TRACE(room);
    const LittleMemory little(static_cast<rlim_t>(room) << 20);
    try {
      EXPECT_GT(checkpoint_bytes(large).size(), static_cast<std::size_t>(kMegabytes) << 20);
      EXPECT_GT(room, kMegabytes);
    } catch (const std::bad_alloc&) {
      EXPECT_LT(room, kMegabytes);
    }
  }
}

TEST(CheckpointStoreTest, RecoveringRemovesTheOldOnesThatASaveWasCutOffBefore) {
  const ScratchDirectory scratch;
  {
    CheckpointStore all(scratch.path(), {.keep_last = 9});
    for (const std::int64_t step : {1, 2, 3}) all.save(checkpoint_of(step));
    all.wait();
  }
  CheckpointStore store(scratch.path(), {.keep_last = 2});
  EXPECT_EQ(store.recover(ignored)->state.step, 3);
  EXPECT_EQ(steps_of(store), (std::vector<std::int64_t>{3, 2}));
}

TEST(CheckpointStoreTest, ALaterFileDoesNotMakeANewOneOld) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path(), {.keep_last = 1});
  write_file(scratch / "step-0000000050.pt", "somebody's");
  for (const std::int64_t step : {1, 2}) store.save(checkpoint_of(step));
  store.wait();
  EXPECT_EQ(scratch.names(),
            (std::vector<std::string>{"step-0000000002.pt", "step-0000000050.pt"}));
}

TEST(CheckpointStoreTest, OneOutOfTurnTakesNobodysPlaceAndGoesWithTheNext) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path(), {.keep_last = 2});
  for (const std::int64_t step : {2, 4}) store.save(checkpoint_of(step));
  store.save(checkpoint_of(5), Keep::until_next);
  store.wait();
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"step-0000000002.pt", "step-0000000004.pt",
                                                       "step-0000000005.stopped.pt"}));
  EXPECT_TRUE(same(*store.load_newest(ignored), checkpoint_of(5)));
  store.save(checkpoint_of(6));
  store.wait();
  EXPECT_EQ(scratch.names(),
            (std::vector<std::string>{"step-0000000004.pt", "step-0000000006.pt"}));
}

// The process may be killed when the next is written and the one out of turn not yet removed.
TEST(CheckpointStoreTest, OneOutOfTurnThatWasLeftBehindGoesAtTheNextStart) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path(), {.keep_last = 2});
  store.save(checkpoint_of(5), Keep::until_next);
  store.wait();
  const std::string stopped = read_file(store.files().front());
  for (const std::int64_t step : {4, 6}) store.save(checkpoint_of(step));
  store.wait();
  write_file(scratch / "step-0000000005.stopped.pt", stopped);
  EXPECT_EQ(store.recover(ignored)->state.step, 6);
  EXPECT_EQ(scratch.names(),
            (std::vector<std::string>{"step-0000000004.pt", "step-0000000006.pt"}));
}

TEST(CheckpointStoreTest, WhatMustBeOnTheDiskBeforeIsCalledBeforeEachWrite) {
  const ScratchDirectory scratch;
  std::vector<std::size_t> files_before;
  CheckpointStore store(scratch.path(),
                        {.before_write = [&] { files_before.push_back(scratch.names().size()); }});
  for (const std::int64_t step : {1, 2}) store.save(checkpoint_of(step));
  store.wait();
  EXPECT_EQ(files_before, (std::vector<std::size_t>{0, 1}));
}

TEST(CheckpointStoreTest, AFailedWriteIsToldAndLeavesTheOthers) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  store.save(checkpoint_of(1));
  store.wait();
  {
    const FullDisk full(100);
    store.save(checkpoint_of(2));
    EXPECT_THROW(store.wait(), IoError);
  }
  EXPECT_EQ(steps_of(store), std::vector<std::int64_t>{1});
  store.save(checkpoint_of(3));
  store.wait();
  EXPECT_EQ(steps_of(store), (std::vector<std::int64_t>{3, 1}));
}

TEST(CheckpointStoreTest, KeepingNoneIsRefused) {
  const ScratchDirectory scratch;
  EXPECT_THROW(CheckpointStore(scratch.path(), {.keep_last = 0}), UsageError);
  EXPECT_THROW(CheckpointStore("/dev/null/x"), IoError);
}

}  // namespace checkpoint_store_test
}  // namespace pagoda
