#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint_store.h>
#include <pagoda/run/run.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_fixtures.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/staged_models.h"

namespace pagoda {
namespace run_test {

using testing::DeepMlp;
using testing::MeanSquare;
using testing::Mlp;
using testing::newest_checkpoint;
using testing::Noisy;
using testing::RowFeed;
using testing::RowFeeds;
using testing::samples;
using testing::ScratchDirectory;
using testing::ScriptedTask;
using testing::small_run;

void expect_same_bits(const std::filesystem::path& found, const std::filesystem::path& expected) {
  const auto a = newest_checkpoint(found).model;
  const auto b = newest_checkpoint(expected).model;
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i].tensor.equal(b[i].tensor)) << a[i].name;
}

RunSummary train_noisy(const RunOptions& options) {
  pagoda::Run run(options, [] { return Noisy(); });
  return run.train(samples(17), samples(5, 100), MeanSquare{});
}

TEST(RunTest, ARunThatWasStoppedEndsInTheBitsOfOneThatWasNot) {
  const ScratchDirectory scratch;
  train_noisy(small_run(scratch / "whole", 7));
  for (const std::int64_t steps : {1, 2, 5, 7}) train_noisy(small_run(scratch / "parts", steps));
  expect_same_bits(scratch / "parts", scratch / "whole");
}

TEST(RunTest, ARunInFp16ResumesWithItsLossScaleAndTellsIt) {
  const ScratchDirectory scratch;
  const auto train = [&](const char* out, std::int64_t steps) {
    RunOptions options = small_run(scratch / out, steps);
    options.precision = Precision::fp16;
    options.loss_scale = {.initial = 1 << 20, .growth_steps = 2};
    options.log_every = 1;
    return train_noisy(options);
  };
  const RunSummary whole = train("whole", 12);
  EXPECT_GT(whole.overflows, 0);
  EXPECT_EQ(whole.skipped, whole.overflows);
  std::int64_t overflows = 0;
  for (const std::int64_t steps : {1, 5, 12}) overflows += train("parts", steps).overflows;
  EXPECT_EQ(overflows, whole.overflows);
  expect_same_bits(scratch / "parts", scratch / "whole");
  const LossScaleState state = newest_checkpoint(scratch / "whole").state.loss_scale;
  EXPECT_EQ(newest_checkpoint(scratch / "parts").state.loss_scale, state);
  EXPECT_EQ(state.overflows, whole.overflows);
  const std::string log = testing::read_file(scratch / "whole" / "train.log");
  for (const char* text :
       {", loss scale 1.04858e+06", "(skipped: the gradient overflowed)", " fp16, "})
    EXPECT_NE(log.find(text), std::string::npos) << text << log;
  const std::string metrics = testing::read_file(scratch / "whole" / "metrics.tsv");
  for (const char* name : {"train/loss_scale", "train/overflows"})
    EXPECT_NE(metrics.find(name), std::string::npos) << metrics;
}

at::Tensor size_of_output(Mlp& model, const RowFeed& feed) {
  return model(feed.numbers.to(at::kFloat)).square().mean();
}

TEST(RunTest, FeedsAndValidationsOfTheUsersOwnTrainAndResume) {
  const ScratchDirectory scratch;
  const auto train = [&](const char* out, std::int64_t steps) {
    RunOptions options = small_run(scratch / out, steps);
    options.valid_every = every_steps(1);
    pagoda::Run run(options, [] { return Mlp(); });
    RowFeeds feeds;
    ScriptedTask task(std::vector<double>(8, 1.0));
    return run.train(feeds, size_of_output, task);
  };
  const RunSummary whole = train("whole", 7);
  EXPECT_EQ(whole.unit, "rows");
  EXPECT_EQ(whole.samples, 14);
  train("parts", 4);
  train("parts", 7);
  expect_same_bits(scratch / "parts", scratch / "whole");
}

TEST(RunTest, TheBestIsByTheLossUnlessAnotherMetricIsWatchedAndPatienceEndsARun) {
  const ScratchDirectory scratch;
  RunOptions options = small_run(scratch / "out", 100);
  options.valid_every = every_steps(1);
  options.early_stopping = 3;
  pagoda::Run run(options, [] { return Mlp(); });
  RowFeeds feeds;
  ScriptedTask task({5, 3, 4, 3, 6, 1, 1, 1});
  const RunSummary summary = run.train(feeds, size_of_output, task);
  EXPECT_STREQ(summary.end, "stopped early");
  EXPECT_EQ(summary.steps, 5);  // the best at step 2, then three without a gain
  const auto best = CheckpointStore(scratch / "out" / "checkpoints").load_best([](auto&) {});
  EXPECT_EQ(best->state.best_step, 2);
}

TEST(RunTest, AValidationThatIsNoNumberIsNeverTheBest) {
  const ScratchDirectory scratch;
  const double none = std::nan("");
  RunOptions options = small_run(scratch / "out", 5);
  options.valid_every = every_steps(1);
  pagoda::Run run(options, [] { return Mlp(); });
  RowFeeds feeds;
  ScriptedTask task({none, 5, none, 3, none, none});
  run.train(feeds, size_of_output, task);
  const auto best = CheckpointStore(scratch / "out" / "checkpoints").load_best([](auto&) {});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->state.best_step, 4);
  EXPECT_EQ(best->state.best, 3);
}

TEST(RunTest, NumbersThatNoRunCanHaveAreRefused) {
  const auto expect_refused = [](auto change) {
    RunOptions options = small_run("", 1);
    change(options);
    EXPECT_THROW(pagoda::Run(options, [] { return Mlp(); }), UsageError);
  };
  expect_refused([](RunOptions& o) { o.batch_size = 0; });
  expect_refused([](RunOptions& o) { o.accumulate = 0; });
  expect_refused([](RunOptions& o) { o.log_every = 0; });
  expect_refused([](RunOptions& o) { o.stages.cut.stages = 0; });
  expect_refused([](RunOptions& o) { o.stages.micro_batches = 0; });
  expect_refused([](RunOptions& o) { o.global_batch_size = 0; });
  expect_refused([](RunOptions& o) { o.accumulate = 50'000, o.stages.micro_batches = 50'000; });
  expect_refused([](RunOptions& o) { o.batch_size = std::numeric_limits<std::int64_t>::max(); });
}

TEST(RunTest, HooksAreCalledWhenTheyAreDueWhateverTheRunWasCutInto) {
  const ScratchDirectory scratch;
  std::vector<std::int64_t> by_steps;
  std::vector<std::int64_t> by_epochs;
  for (const std::int64_t steps : {4, 9}) {
    pagoda::Run run(small_run(scratch / "out", steps), [] { return Mlp(); });
    run.every(every_steps(2), [&](const StepResult& result, RunState& state) {
      EXPECT_EQ(result.step + 1, state.step);
      by_steps.push_back(state.step);
    });
    run.every(every_epochs(1),
              [&](const StepResult&, RunState& state) { by_epochs.push_back(state.step); });
    run.train(samples(17), samples(3), MeanSquare{});
  }
  EXPECT_EQ(by_steps, (std::vector<std::int64_t>{2, 4, 6, 8}));
  EXPECT_EQ(by_epochs, (std::vector<std::int64_t>{3, 6, 9}));
}

TEST(RunTest, AnotherSeedIsRefusedAndAnotherNumberOfTowersIsNot) {
  const ScratchDirectory scratch;
  RunOptions options = small_run(scratch / "out", 3);
  train_noisy(options);
  options.max_steps = 6;
  options.seed = 2;
  EXPECT_THROW(train_noisy(options), UsageError);
  options.seed = 1;
  options.devices.devices = "1";
  options.log_every = 1;
  EXPECT_EQ(train_noisy(options).steps, 6);
}

TEST(RunTest, StagesNeedAModelThatNamesItsLayersAndALossInBothForms) {
  RunOptions options = small_run("", 2);
  options.stages.cut.stages = 2;
  options.batch_size = 4;
  EXPECT_THROW(pagoda::Run(options, [] { return Mlp(); }), UsageError);

  const auto make = [] { return DeepMlp(); };
  pagoda::Run plain(options, make);
  EXPECT_THROW(plain.train(samples(8), samples(3), MeanSquare{}), UsageError);

  const auto outputs = [](DeepMlp&, const Tensors& values, const Batch& batch) {
    return torch::mse_loss(values[0], batch.target.to(at::kFloat));
  };
  const auto inputs = [](const Batch& batch) { return batch.input.to(at::kFloat); };
  const auto whole = [](DeepMlp& model, const Batch& batch) {
    return torch::mse_loss(model(batch.input.to(at::kFloat)), batch.target.to(at::kFloat));
  };
  const auto loss_with = [&](int stages) {
    options.stages.cut.stages = stages;
    options.devices.devices = std::to_string(stages);
    options.stages.micro_batches = 4;
    pagoda::Run run(options, make);
    return run.train(samples(8), samples(3), LayeredLoss{whole, inputs, outputs}).validation->loss;
  };
  EXPECT_NEAR(loss_with(2), loss_with(1), 1e-5);
}

TEST(RunTest, OverfittingTakesTheFirstSamplesOnly) {
  RunOptions options = small_run("", 1);
  options.max_steps.reset();
  options.epochs = 5;
  options.overfit_batches = 1;
  pagoda::Run run(options, [] { return Mlp(); });
  EXPECT_EQ(run.train(samples(17), samples(3), MeanSquare{}).steps, 5);
}

TEST(RunTest, DroppingTheLastFeedsLeavesFullStepsOnly) {
  for (const bool drop_last : {false, true}) {
    RunOptions options = small_run("", 1);
    options.max_steps.reset();
    options.epochs = 3;
    options.global_batch_size = 4;
    options.drop_last = drop_last;
    pagoda::Run run(options, [] { return Mlp(); });
    EXPECT_EQ(run.train(samples(11), samples(3), MeanSquare{}).steps, drop_last ? 3 * 2 : 3 * 3);
  }
}

TEST(RunTest, ADryRunTakesOneStepAndWritesNothing) {
  const ScratchDirectory scratch;
  RunOptions options = small_run(scratch / "out", 9);
  options.dry_run = true;
  EXPECT_EQ(train_noisy(options).steps, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch / "out"));
}

}  // namespace run_test
}  // namespace pagoda
