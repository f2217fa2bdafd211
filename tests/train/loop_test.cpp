#include <pagoda/base/error.h>
#include <pagoda/train/loop.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace loop_test {

/// Ten samples in steps of four: 4, 4, 2 an epoch.
class LoopTest : public ::testing::Test {
 protected:
  Batches batches_from(DataPosition start, std::int64_t epochs = kEndlessEpochs) const {
    return batches(data, 2, {.batch_size = 2, .epochs = epochs, .start = start});
  }
  std::function<StepResult(const Feeds&)> counting() {
    return [this](const Feeds& feeds) {
      double weight = 0;
      for (const auto& feed : feeds) weight += feed.weight();
      return StepResult{.step = steps++, .weight = weight};
    };
  }

  TensorDataset data{torch::zeros({10, 1}), torch::zeros({10})};
  std::int64_t steps = 0;
  RunState state;
};

TEST_F(LoopTest, StepsUntilItsLastStepAndKeepsTheState) {
  Batches source = batches_from({});
  Loop loop(counting(), source, {.max_steps = 4});
  std::vector<std::int64_t> seen;
  loop.add(every(2, [&](const StepResult& result, RunState& now) {
    seen.push_back(now.step);
    EXPECT_EQ(result.step + 1, now.step);
  }));
  EXPECT_EQ(loop.run(state), LoopEnd::finished);
  EXPECT_EQ(state.step, 4);
  EXPECT_EQ(state.samples, 14);
  EXPECT_EQ(state.position.epoch, 1);
  EXPECT_EQ(state.position.consumed, 4);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(loop.run(state), LoopEnd::finished) << "nothing is left to do";
  EXPECT_EQ(steps, 4);
}

TEST_F(LoopTest, EndsWithTheData) {
  Batches source = batches_from({.epoch = 3, .consumed = 4}, 1);
  Loop loop(counting(), source, {.max_steps = 100});
  EXPECT_EQ(loop.run(state), LoopEnd::out_of_data);
  EXPECT_EQ(state.step, 2);
  EXPECT_EQ(state.position.epoch, 4);
}

TEST_F(LoopTest, WithoutALastStepItRunsUntilTheDataEnds) {
  Batches source = batches_from({}, 2);
  Loop loop(counting(), source, {});
  EXPECT_EQ(loop.run(state), LoopEnd::out_of_data);
  EXPECT_EQ(state.step, 6);
  EXPECT_EQ(state.samples, 20);
}

TEST_F(LoopTest, RefusesNumbersThatNeverCome) {
  Batches source = batches_from({});
  EXPECT_THROW(Loop(counting(), source, {.max_steps = -1}), UsageError);
  EXPECT_THROW(Loop(counting(), source, {.max_time = std::chrono::duration<double>(-1)}),
               UsageError);
  EXPECT_THROW(every(0, nullptr), UsageError);
  EXPECT_THROW(every(-5, nullptr), UsageError);
}

TEST_F(LoopTest, StopsWhenAskedAndWhenAHookSaysSo) {
  Batches source = batches_from({});
  Loop loop(counting(), source, {.max_steps = 100});
  EXPECT_EQ(loop.run(state, [this] { return steps == 3; }), LoopEnd::stopped);
  EXPECT_EQ(state.step, 3);
  loop.add([&](const StepResult&, RunState&) { loop.stop(); });
  EXPECT_EQ(loop.run(state), LoopEnd::stopped);
  EXPECT_EQ(state.step, 4);
}

TEST_F(LoopTest, EndsWhenItsTimeIsUp) {
  Batches source = batches_from({});
  Loop loop(counting(), source, {.max_steps = 100, .max_time = std::chrono::duration<double>(0)});
  EXPECT_EQ(loop.run(state), LoopEnd::out_of_time);
  EXPECT_EQ(state.step, 0);
}

TEST_F(LoopTest, AStepThatThrowsLeavesTheStateOfTheLastWholeOne) {
  Batches source = batches_from({});
  Loop loop(
      [&, step = counting()](const Feeds& feeds) {
        if (steps == 2) throw std::runtime_error("broken");
        return step(feeds);
      },
      source, {.max_steps = 100});
  EXPECT_THROW(loop.run(state), std::runtime_error);
  EXPECT_EQ(state.step, 2);
  EXPECT_EQ(state.samples, 8);
}

}  // namespace loop_test
}  // namespace pagoda
