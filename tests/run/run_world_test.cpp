// Whole runs of several processes, which are threads here: they equal a run of one process with as
// many towers, one of them writes, and they end together.

#include <pagoda/run/run.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_fixtures.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "world/ranks.h"

namespace pagoda {
namespace run_world_test {

using testing::in_double;
using testing::MeanSquare;
using testing::Mlp;
using testing::newest_checkpoint;
using testing::samples;
using testing::small_run;

constexpr double kTolerance = 1e-12;

Mlp make_mlp() { return in_double(Mlp()); }

/// The options of a rank with so many towers.
RunOptions options_of(World& world, int towers, const std::filesystem::path& out,
                      std::int64_t max_steps) {
  RunOptions options = small_run(out, max_steps);
  options.devices.devices = std::to_string(towers);
  options.world = std::shared_ptr<World>(&world, [](World*) {});
  return options;
}

RunSummary train(const RunOptions& options) {
  pagoda::Run run(options, make_mlp);
  return run.train(samples(17, 0, at::kDouble), samples(11, 40, at::kDouble), MeanSquare());
}

double largest_difference(const Checkpoint& one, const Checkpoint& other) {
  double largest = 0;
  for (std::size_t i = 0; i < one.model.size(); ++i) {
    largest =
        std::max(largest, (one.model[i].tensor - other.model[i].tensor).abs().max().item<double>());
  }
  return largest;
}

class RunWorldTest : public ::testing::Test {
 protected:
  /// Of a process that is alone, with so many towers.
  Checkpoint alone(int towers, std::int64_t max_steps) {
    RunOptions options = small_run(scratch_ / "alone", max_steps);
    options.devices.devices = std::to_string(towers);
    train(options);
    return newest_checkpoint(scratch_ / "alone");
  }

  const testing::ScratchDirectory directory_;
  const std::filesystem::path scratch_ = directory_.path();
};

TEST_F(RunWorldTest, ProcessesWithTheirTowersEqualOneProcessWithAllOfThem) {
  const Checkpoint expected = alone(3, 5);
  std::mutex mutex;
  std::vector<RunSummary> summaries;
  on_ranks(2, [&](World& world) {
    const RunSummary summary = train(options_of(world, world.rank() + 1, scratch_ / "world", 5));
    const std::lock_guard lock(mutex);
    summaries.push_back(summary);
  });
  const Checkpoint found = newest_checkpoint(scratch_ / "world");
  EXPECT_LT(largest_difference(found, expected), kTolerance);
  EXPECT_EQ(found.towers, 3);
  EXPECT_EQ(found.state.step, expected.state.step);
  EXPECT_EQ(found.state.position, expected.state.position);
  EXPECT_EQ(found.state.samples, expected.state.samples);
  EXPECT_NEAR(*found.state.best, *expected.state.best, kTolerance);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].validation->loss, summaries[1].validation->loss);
  EXPECT_EQ(summaries[0].towers, 3);
}

TEST_F(RunWorldTest, AnotherNumberOfProcessesGoesOn) {
  const Checkpoint expected = alone(2, 6);
  on_ranks(2, [&](World& world) { train(options_of(world, 1, scratch_ / "world", 4)); });
  RunOptions one = small_run(scratch_ / "world", 5);
  train(one);
  on_ranks(2, [&](World& world) { train(options_of(world, 1, scratch_ / "world", 6)); });
  const Checkpoint found = newest_checkpoint(scratch_ / "world");
  EXPECT_LT(largest_difference(found, expected), kTolerance);
  EXPECT_EQ(found.state.position, expected.state.position);
}

TEST_F(RunWorldTest, ThreeProcessesUseEverySampleOnceAnEpoch) {
  class Counted : public Dataset {
   public:
    std::int64_t size() const override { return 23; }
    Batch get(std::span<const std::int64_t> numbers, std::int64_t epoch) const override {
      const std::lock_guard lock(mutex);
      for (const std::int64_t number : numbers) seen.insert({epoch, number});
      return samples(23, 0, at::kDouble).get(numbers, epoch);
    }
    mutable std::mutex mutex;
    mutable std::multiset<std::pair<std::int64_t, std::int64_t>> seen;
  };
  const Counted data;
  on_ranks(3, [&](World& world) {
    RunOptions options = options_of(world, 1, "", 0);
    options.max_steps.reset();
    options.epochs = 2;
    pagoda::Run run(options, make_mlp);
    run.train(data, samples(11, 40, at::kDouble), MeanSquare());
  });
  EXPECT_EQ(data.seen.size(), 2u * 23);
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    for (std::int64_t sample = 0; sample < 23; ++sample)
      EXPECT_EQ(data.seen.count({epoch, sample}), 1u) << epoch << ", " << sample;
  }
}

/// What each rank's run throws.
template <class Change>
std::vector<std::string> failures(const std::filesystem::path& out, Change change) {
  std::vector<std::string> texts(2);
  on_ranks(2, [&](World& world) {
    RunOptions options = options_of(world, 1, out, 5);
    try {
      pagoda::Run run(change(world.rank(), options), make_mlp);
      if (world.rank() == 1)
        run.every(every_steps(3), [](const StepResult&, RunState&) { throw IoError("disk full"); });
      run.train(samples(17, 0, at::kDouble), samples(11, 40, at::kDouble), MeanSquare());
    } catch (const std::exception& error) {
      texts[static_cast<std::size_t>(world.rank())] = error.what();
    }
  });
  return texts;
}

TEST_F(RunWorldTest, AFailureAnywhereInARunEndsAllOfThemWithItsReason) {
  const auto texts = failures(scratch_ / "run", [](int, RunOptions options) { return options; });
  EXPECT_EQ(texts[1], "disk full");
  EXPECT_NE(texts[0].find("rank 1 ("), std::string::npos) << texts[0];
  EXPECT_NE(texts[0].find("disk full"), std::string::npos) << texts[0];
}

TEST_F(RunWorldTest, AnotherConfigurationIsRefusedWithTheDifference) {
  for (const std::string& text : failures(scratch_ / "run", [](int rank, RunOptions options) {
         options.optimizer.lr = rank == 1 ? 0.5 : 0.25;
         return options;
       })) {
    EXPECT_NE(text.find("has another run than rank 0"), std::string::npos) << text;
    EXPECT_NE(text.find("lr = 0.5 instead of lr = 0.25"), std::string::npos) << text;
  }
}

TEST_F(RunWorldTest, ProcessesThatWouldMeetAfterOtherStepsAreRefusedBeforeTheyWait) {
  const auto expect_refused = [&](const std::string& difference, auto change) {
    for (const std::string& text : failures(scratch_ / "run", [&](int rank, RunOptions options) {
           if (rank == 1) change(options);
           return options;
         })) {
      EXPECT_NE(text.find("has another run than rank 0"), std::string::npos) << text;
      EXPECT_NE(text.find(difference), std::string::npos) << text;
    }
  };
  expect_refused("max-steps = 7 instead of", [](RunOptions& o) { o.max_steps = 7; });
  expect_refused("valid-every = \"3\" instead of",
                 [](RunOptions& o) { o.valid_every = every_steps(3); });
  expect_refused("save-every = \"3\" instead of",
                 [](RunOptions& o) { o.save_every = every_steps(3); });
  expect_refused("early-stopping = 9 instead of", [](RunOptions& o) { o.early_stopping = 9; });
  expect_refused("dry-run = true instead of", [](RunOptions& o) { o.dry_run = true; });
  expect_refused("parameters spread = true instead of",
                 [](RunOptions& o) { o.parameters = ParameterPlacement::spread; });
}

TEST_F(RunWorldTest, OtherInitialWeightsAreRefused) {
  on_ranks(2, [&](World& world) {
    pagoda::Run run(options_of(world, 1, "", 2), [rank = world.rank()] {
      Mlp model = make_mlp();
      torch::NoGradGuard no_grad;
      model->parameters()[0].add_(rank);
      return model;
    });
    try {
      run.train(samples(17, 0, at::kDouble), samples(11, 40, at::kDouble), MeanSquare());
      ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("begins with other weights than rank 0"),
                std::string::npos)
          << error.what();
    }
  });
}

TEST_F(RunWorldTest, ASignalAtTheProcessEndsAllAfterTheSameStepWithTheirStateSaved) {
  std::vector<int> codes(2);
  on_ranks(2, [&](World& world) {
    pagoda::Run run(options_of(world, 1, scratch_ / "run", 50), make_mlp);
    if (world.rank() == 1)
      run.every(every_steps(7), [](const StepResult&, RunState&) { raise(SIGTERM); });
    const RunSummary summary =
        run.train(samples(17, 0, at::kDouble), samples(11, 40, at::kDouble), MeanSquare());
    codes[static_cast<std::size_t>(world.rank())] = summary.exit_code;
  });
  EXPECT_EQ(codes, (std::vector<int>{143, 143}));
  const std::int64_t step = newest_checkpoint(scratch_ / "run").state.step;
  EXPECT_GE(step, 7);
  EXPECT_LE(step, 9);
}

TEST_F(RunWorldTest, TimeIsUpForAllTogether) {
  on_ranks(2, [&](World& world) {
    RunOptions options = options_of(world, 1, "", 1'000'000);
    options.max_time = std::chrono::duration<double>(1e-6);
    const RunSummary summary = train(options);
    EXPECT_STREQ(summary.end, "out of time");
    EXPECT_EQ(summary.exit_code, 0);
    EXPECT_LE(summary.steps, 2);
  });
}

}  // namespace run_world_test
}  // namespace pagoda
