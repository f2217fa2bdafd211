#include <pagoda/base/error.h>
#include <pagoda/run/run_options.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace pagoda {
namespace run_options_test {

TEST(RunOptionsTest, AGlobalBatchIsDividedAmongTowersAndTheirFeeds) {
  RunOptions options;
  options.batch_size = 24;
  EXPECT_EQ(feed_size(options, 3), 24);
  options.global_batch_size = 60;
  options.accumulate = 2;
  EXPECT_EQ(feed_size(options, 3), 10);
  EXPECT_THROW(feed_size(options, 7), UsageError);
  options.stages.cut.stages = 2;  // four micro-batches of each tower's batch
  EXPECT_THROW(feed_size(options, 3), UsageError);
  options.stages.micro_batches = 5;
  EXPECT_EQ(feed_size(options, 3), 2);
  EXPECT_EQ(feeds_per_tower(options), 10);
}

TEST(RunOptionsTest, ABoundOfStalenessNeedsAsynchronousUpdatesAndTheseNeedWholeTowers) {
  RunOptions options;
  EXPECT_FALSE(async_options(options));
  EXPECT_EQ(tower_options(options).placement, std::nullopt);
  options.max_staleness = 3;
  EXPECT_THROW(async_options(options), UsageError);
  options.update = UpdateKind::async;
  EXPECT_EQ(async_options(options)->max_staleness, 3);
  EXPECT_EQ(tower_options(options).placement, ParameterPlacement::host);
  options.stages.cut.stages = 2;
  EXPECT_THROW(async_options(options), UsageError);
}

TEST(RunOptionsTest, ARateThatFallsNeedsAFactorBelowOne) {
  RunOptions options;
  EXPECT_FALSE(stalled_rate(options));
  options.lr_stall_factor = 0.5;
  EXPECT_EQ(stalled_rate(options)->factor, 0.5);
  options.lr_stall_factor = 2;
  EXPECT_THROW(stalled_rate(options), UsageError);
}

TEST(RunOptionsTest, AConfigurationHasWhatMustBeTheSameAndNothingElse) {
  RunOptions options{.name = "net", .batch_size = 7, .seed = 18446744073709551615u, .epochs = 3};
  options.optimizer.optimizer = OptimizerKind::nesterov;
  options.optimizer.lr = 1e-7;
  const std::string text = config_text(options);
  for (const char* line :
       {"model = \"net\"\n", "batch-size = 7\n", "lr = 1e-07\n", "seed = 18446744073709551615\n",
        "optimizer = \"nesterov\"\n", "lr-staircase = false\n", "update = \"sync\"\n",
        "precision = \"fp32\"\n", "matmul = \"highest\"\n", "loss-scale = 65536\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(text.find("freeze"), std::string::npos);
  options.optimizer.freeze = {"a.*"};
  options.optimizer.lr_factor = {{"b.*", 10}, {"c", 0.5}};
  for (const char* line : {"freeze = \"a.*\"\n", "lr-factor = [\"b.*=10\", \"c=0.5\"]\n"})
    EXPECT_NE(config_text(options).find(line), std::string::npos) << line << config_text(options);
  EXPECT_EQ(step_options(options).parameter_rules.size(), 3u);
  options.init_from = "a \"b\".pt";
  EXPECT_NE(config_text(options).find("init-from = \"a \\\"b\\\".pt\"\n"), std::string::npos)
      << config_text(options);
  for (const std::string& name : changeable_options())
    EXPECT_EQ(text.find("\n" + name + " = "), std::string::npos) << name;
}

}  // namespace run_options_test
}  // namespace pagoda
