#include "flags/train_flags.h"

#include <pagoda/base/error.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace train_flags_test {

TEST(TrainFlagsTest, AGlobalBatchIsDividedAmongTowersAndTheirFeeds) {
  TrainFlags flags;
  flags.batch_size = 24;
  EXPECT_EQ(flags.feed_size(3), 24);
  flags.global_batch_size = 60;
  flags.accumulate = 2;
  EXPECT_EQ(flags.feed_size(3), 10);
  EXPECT_THROW(flags.feed_size(7), UsageError);
  flags.pipeline.stages = 2;  // four micro-batches of each tower's batch
  EXPECT_THROW(flags.feed_size(3), UsageError);
  flags.pipeline.micro_batches = 5;
  EXPECT_EQ(flags.feed_size(3), 2);
  EXPECT_EQ(flags.feeds_per_tower(), 10);
}

TEST(TrainFlagsTest, ABoundOfStalenessNeedsAsynchronousUpdatesAndTheseNeedWholeTowers) {
  TrainFlags flags;
  EXPECT_FALSE(flags.async_options());
  EXPECT_EQ(flags.tower_options().placement, std::nullopt);
  flags.max_staleness = 3;
  EXPECT_THROW(flags.async_options(), UsageError);
  flags.update = "async";
  EXPECT_EQ(flags.async_options()->max_staleness, 3);
  EXPECT_EQ(flags.tower_options().placement, ParameterPlacement::host);
  flags.pipeline.stages = 2;
  EXPECT_THROW(flags.async_options(), UsageError);
}

TEST(TrainFlagsTest, ARateThatFallsNeedsAFactorBelowOne) {
  TrainFlags flags;
  EXPECT_FALSE(flags.stalled_rate());
  flags.lr_stall_factor = 0.5;
  EXPECT_EQ(flags.stalled_rate()->factor, 0.5);
  flags.lr_stall_factor = 2;
  EXPECT_THROW(flags.stalled_rate(), UsageError);
}

TEST(TrainFlagsTest, EveryOptionThatMayChangeExists) {
  TrainFlags flags;
  CLI::App command("a command", "train");
  add_train_flags(command, flags);
  for (const std::string& name : changeable_options()) {
    if (name == "preset") continue;  // the models' own
    EXPECT_NE(command.get_option_no_throw("--" + name), nullptr) << name;
  }
  const auto changeable = changeable_options();
  for (const char* name : {"lr", "batch-size", "seed", "micro-batches", "update"})
    EXPECT_EQ(std::count(changeable.begin(), changeable.end(), name), 0) << name;
}

}  // namespace train_flags_test
}  // namespace pagoda::app
