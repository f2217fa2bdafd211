#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint_store.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/checkpoints.h"
#include "support/scratch_directory.h"

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
  for (const auto& file : store.files()) steps.push_back(read_checkpoint(file).step);
  return steps;
}

TEST(CheckpointStoreTest, KeepsTheNewestAndTheBest) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch / "checkpoints", {.keep_last = 2});
  EXPECT_FALSE(store.load_newest([](const std::string&) {}));
  for (const std::int64_t step : {5, 10, 15, 100}) store.save(checkpoint_of(step), step == 10);
  store.wait();
  EXPECT_EQ(steps_of(store), (std::vector<std::int64_t>{100, 15}));
  EXPECT_EQ(read_checkpoint(store.best_file()).step, 10);
  EXPECT_TRUE(same(*store.load_newest([](const std::string&) {}), checkpoint_of(100)));
}

TEST(CheckpointStoreTest, GoesBackToTheOneBeforeADamagedOneAndSaysSo) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  for (const std::int64_t step : {1, 2, 3}) store.save(checkpoint_of(step), false);
  store.wait();
  const auto files = store.files();
  write_file(files[0], read_file(files[0]).substr(0, 100));
  std::string third = read_file(files[1]);
  third[third.size() / 2] ^= 1;
  write_file(files[1], third);
  std::vector<std::string> lines;
  const auto newest = store.load_newest([&](const std::string& line) { lines.push_back(line); });
  ASSERT_TRUE(newest);
  EXPECT_LE(newest->step, 2);  // the flipped bit may lie in padding, which holds no value
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines[0].find(files[0].string()), std::string::npos);
}

TEST(CheckpointStoreTest, AFailedWriteIsToldAndLeavesTheOthers) {
  const ScratchDirectory scratch;
  CheckpointStore store(scratch.path());
  store.save(checkpoint_of(1), false);
  store.wait();
  {
    const FullDisk full(100);
    store.save(checkpoint_of(2), false);
    EXPECT_THROW(store.wait(), IoError);
  }
  EXPECT_EQ(steps_of(store), std::vector<std::int64_t>{1});
  store.save(checkpoint_of(3), false);
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
