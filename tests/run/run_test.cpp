#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint_store.h>
#include <pagoda/run/run.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/staged_models.h"

namespace pagoda {
namespace run_test {

using testing::DeepMlp;
using testing::MeanSquare;
using testing::Mlp;
using testing::Noisy;
using testing::ScratchDirectory;

TensorDataset samples(std::int64_t count, std::int64_t first = 0) {
  const Batch all = testing::vector_feed(first, count);
  return TensorDataset(all.input.to(at::kFloat), all.target.to(at::kFloat));
}

/// A run of 17 samples an epoch, two towers of 3: steps of 6, 6 and 5 samples.
RunOptions small_run(const std::filesystem::path& out, std::int64_t max_steps) {
  RunOptions options{.batch_size = 3, .max_steps = max_steps, .out = out};
  options.devices.devices = "2";
  options.log_format = LogFormat::json;
  options.save_every = every_steps(2);
  return options;
}

std::vector<NamedTensor> newest_model(const std::filesystem::path& out) {
  return CheckpointStore(out / "checkpoints").load_newest([](const std::string&) {})->model;
}

void expect_same_bits(const std::filesystem::path& found, const std::filesystem::path& expected) {
  const auto a = newest_model(found);
  const auto b = newest_model(expected);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].tensor.equal(b[i].tensor)) << a[i].name;
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

TEST(RunTest, AnOptimizerOfLibTorchIsResumedToo) {
  const ScratchDirectory scratch;
  const auto train = [&](const char* out, std::int64_t steps) {
    pagoda::Run run(small_run(scratch / out, steps), [] { return Noisy(); });
    torch::optim::Adam adam(run.towers().parameters(), torch::optim::AdamOptions(0.01));
    run.use(adam);
    run.train(samples(17), samples(5, 100), MeanSquare{});
  };
  train("whole", 6);
  train("parts", 3);
  train("parts", 6);
  expect_same_bits(scratch / "parts", scratch / "whole");
}

/// Feeds that are not batches: two numbers a sample.
struct PairFeed {
  at::Tensor numbers = {};
  double weight() const { return static_cast<double>(numbers.size(0)); }
  std::vector<std::int64_t> sample_numbers() const { return {}; }
  template <class Change>
  PairFeed with_tensors(Change change) const {
    return {change(numbers)};
  }
};

/// Epochs of 3 steps of two feeds.
class PairFeeds : public FeedSource<PairFeed> {
 public:
  std::shared_ptr<FeedStream<PairFeed>> stream(const DataPosition& start,
                                               std::int64_t epochs) override {
    const std::int64_t first = 3 * start.epoch + start.consumed / 2;
    const std::int64_t end = 3 * (start.epoch + epochs);
    const auto make = [first, end](std::int64_t number) -> std::optional<StepFeeds<PairFeed>> {
      const std::int64_t step = first + number;
      if (step >= end) return std::nullopt;
      StepFeeds<PairFeed> feeds;
      for (int i = 0; i < 2; ++i) feeds.push_back({testing::waves({1, 4}, 2 * step + i, 0.7)});
      const std::int64_t done = step + 1;
      feeds.after = {.epoch = done / 3, .consumed = 2 * (done % 3)};
      return feeds;
    };
    return std::make_shared<FeedStream<PairFeed>>(make, 1, 2);
  }
  std::int64_t steps_from(const DataPosition& position) const override {
    return 3 - position.consumed / 2;
  }
  std::string about() const override { return "two pairs a step"; }
  std::string unit() const override { return "pairs"; }
};

/// Scores itself by the step that it was called at.
class CountingTask : public RunTask {
 public:
  explicit CountingTask(std::vector<double> losses) : losses_(std::move(losses)) {}

  std::string name() const override { return "counting"; }
  Validation validate() override {
    return {Evaluation{.loss = losses_.at(next_++), .weight = 1}, {"a note"}};
  }

 private:
  const std::vector<double> losses_;
  std::size_t next_ = 0;
};

at::Tensor size_of_output(Mlp& model, const PairFeed& feed) {
  return model(feed.numbers.to(at::kFloat)).square().mean();
}

TEST(RunTest, FeedsAndValidationsOfTheUsersOwnTrainAndResume) {
  const ScratchDirectory scratch;
  const auto train = [&](const char* out, std::int64_t steps) {
    RunOptions options = small_run(scratch / out, steps);
    options.valid_every = every_steps(1);
    pagoda::Run run(options, [] { return Mlp(); });
    PairFeeds feeds;
    CountingTask task(std::vector<double>(8, 1.0));
    return run.train(feeds, size_of_output, task);
  };
  const RunSummary whole = train("whole", 7);
  EXPECT_EQ(whole.unit, "pairs");
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
  PairFeeds feeds;
  CountingTask task({5, 3, 4, 3, 6, 1, 1, 1});
  const RunSummary summary = run.train(feeds, size_of_output, task);
  EXPECT_STREQ(summary.end, "stopped early");
  EXPECT_EQ(summary.steps, 5);  // the best at step 2, then three without a gain
  const auto best = CheckpointStore(scratch / "out" / "checkpoints").load_best([](auto&) {});
  EXPECT_EQ(best->state.best_step, 2);
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
    run.every(every_epochs(1), [&](const StepResult&, RunState& state) {
      by_epochs.push_back(state.step);
    });
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

TEST(RunTest, ADryRunTakesOneStepAndWritesNothing) {
  const ScratchDirectory scratch;
  RunOptions options = small_run(scratch / "out", 9);
  options.dry_run = true;
  EXPECT_EQ(train_noisy(options).steps, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch / "out"));
}

}  // namespace run_test
}  // namespace pagoda
