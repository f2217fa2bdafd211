// What a step reports, what it refuses, and what it does about a loss that is not finite.

#include <pagoda/base/error.h>
#include <pagoda/train/sync_step.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/training_bits.h"

namespace pagoda {
namespace sync_step_result_test {

using testing::all_equal;
using testing::all_state;
using testing::copies;
using testing::cpu_devices;
using testing::feeds_of;
using testing::kTowerCounts;
using testing::MeanSquare;
using testing::message_of;
using testing::Mlp;
using testing::Noisy;
using testing::NoisyTraining;
using testing::vector_feed;

Mlp make_mlp() { return Mlp(); }

/// Feed f of the given sizes has f as its target everywhere.
std::vector<Batch> numbered_feeds(const std::vector<std::int64_t>& sizes) {
  std::vector<Batch> feeds;
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    feeds.push_back({.input = torch::zeros({sizes[f], 1}),
                     .target = torch::full({sizes[f], 1}, static_cast<double>(f))});
  }
  return feeds;
}

at::Tensor feed_number(Mlp& model, const Batch& batch) {
  return batch.target.mean() + 0 * model->output->bias.sum();
}

TEST(SyncStepResultTest, LossesAreMeansOverSamples) {
  auto towers = make_towers(cpu_devices(3), make_mlp);
  SyncStep step(towers, Sgd{});
  const StepResult result = step.run(numbered_feeds({1, 2, 0, 5}), feed_number);
  EXPECT_DOUBLE_EQ(result.loss, (1 * 0 + 2 * 1 + 5 * 3) / 8.0);
  EXPECT_DOUBLE_EQ(result.tower_losses[0], (1 * 0 + 5 * 3) / 6.0);
  EXPECT_DOUBLE_EQ(result.tower_losses[1], 1);
  EXPECT_TRUE(std::isnan(result.tower_losses[2]));
  EXPECT_EQ(result.weight, 8);
  EXPECT_FALSE(result.skipped);
}

TEST(SyncStepResultTest, MetricsAreMeansOverSamples) {
  auto towers = make_towers(cpu_devices(2), make_mlp);
  SyncStep step(towers, Sgd{});
  const auto scored = [](Mlp& model, const Batch& batch) {
    return Scored{.loss = model->output->bias.sum(),
                  .metrics = {{"number", batch.target.mean()}, {"one", torch::ones(1)}}};
  };
  const auto metrics = step.run(numbered_feeds({1, 2, 5}), scored).metrics;
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].first, "number");
  EXPECT_DOUBLE_EQ(metrics[0].second, (2 * 1 + 5 * 2) / 8.0);
  EXPECT_EQ(metrics[1], std::pair(std::string("one"), 1.0));
}

TEST(SyncStepResultTest, CountsStepsAndFollowsTheSchedule) {
  auto towers = make_towers(cpu_devices(2), make_mlp);
  SyncStep step(towers, Sgd{.learning_rate = StepDecay{.base = 1, .factor = 0.5, .every = 1}});
  step.set_count(3);
  for (const int number : {3, 4}) {
    const StepResult result = step.run(
        feeds_of(vector_feed, {2, 2}, 0),
        [](Mlp& model, const Batch& batch) { return model(batch.input.to(torch::kFloat)).mean(); });
    EXPECT_EQ(result.step, number);
    EXPECT_EQ(result.learning_rate, std::pow(0.5, number));
  }
  EXPECT_EQ(step.count(), 5);
}

TEST(SyncStepResultTest, RefusesStepsWithoutSamples) {
  auto towers = make_towers(cpu_devices(2), make_mlp);
  SyncStep step(towers, Sgd{});
  EXPECT_THROW(step.run(std::vector<Batch>(), feed_number), UsageError);
  EXPECT_THROW(step.run(numbered_feeds({0, 0}), feed_number), UsageError);
}

TEST(SyncStepResultTest, RefusesALossThatIsNotOneNumber) {
  auto towers = make_towers(cpu_devices(2), make_mlp);
  SyncStep step(towers, Sgd{});
  const auto run = [&](at::Tensor loss) {
    return message_of<UsageError>([&] {
      step.run(numbered_feeds({1, 1}), [&](Mlp& model, const Batch&) {
        return loss.defined() ? loss + 0 * model->output->bias.sum() : loss;
      });
    });
  };
  EXPECT_NE(run(torch::ones(2)).find("tower 0 (cpu:0), forward, step 0"), std::string::npos);
  EXPECT_NE(run(at::Tensor()), "");
  EXPECT_EQ(run(torch::ones({1, 1})), "") << "one number in any shape will do";
}

TEST(SyncStepResultTest, RefusesASecondLearningRate) {
  auto towers = make_towers(cpu_devices(2), make_mlp);
  EXPECT_THROW(SyncStep(towers, Sgd{}, {.learning_rate = 0.1}), UsageError);
}

/// The loss becomes `value` for the feed that holds the sample; the gradient, too.
auto spoilt_loss(std::int64_t sample, double value) {
  return [=](Noisy& model, const Batch& batch) {
    const at::Tensor loss = MeanSquare()(model, batch);
    const auto& samples = batch.samples;
    return std::find(samples.begin(), samples.end(), sample) == samples.end() ? loss : loss * value;
  };
}

/// Two feeds of three samples for each tower: sample 5 is in feed 1.
constexpr std::int64_t kBadSample = 5;

const double kNonFinite[] = {std::numeric_limits<double>::infinity(), std::nan("")};

class NonFiniteTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    training_.run_steps(1);
    training_.step().set_count(0);  // so that the same samples come again
    before_ = training_.state();
  }

  NoisyTraining training_{GetParam(), 7};
  std::vector<at::Tensor> before_;
};

INSTANTIATE_TEST_SUITE_P(Towers, NonFiniteTest, ::testing::ValuesIn(kTowerCounts));

TEST_P(NonFiniteTest, StopNamesTowerStepAndSamples) {
  const int tower = 1 % GetParam();
  for (const double value : kNonFinite) {
    const std::string text =
        message_of<DataError>([&] { training_.run_step(spoilt_loss(kBadSample, value)); });
    const std::string place =
        "tower " + std::to_string(tower) + " (cpu:" + std::to_string(tower) + "), step 0";
    EXPECT_NE(text.find(place), std::string::npos) << text;
    EXPECT_NE(text.find("samples 3, 4, 5;"), std::string::npos) << text;
    EXPECT_TRUE(all_equal(training_.state(), before_));
    EXPECT_EQ(training_.step().count(), 0);
  }
}

class SkipTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Towers, SkipTest, ::testing::ValuesIn(kTowerCounts));

TEST_P(SkipTest, LeavesEverythingAsItIsAndGoesOn) {
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(2 * GetParam()), 3);
  const auto run = [&](SyncStep<Noisy>& step, auto loss) {
    return step.run(feeds_of(vector_feed, sizes, 0), loss);
  };
  auto towers = make_towers(cpu_devices(GetParam()), [] { return Noisy(); });
  SyncStep step(towers, Adam{},
                {.moving_average = MovingAverage{}, .on_non_finite = NonFinite::skip});
  run(step, MeanSquare());
  const auto before = all_state(towers, step);
  for (const double value : kNonFinite) {
    EXPECT_TRUE(run(step, spoilt_loss(kBadSample, value)).skipped);
    EXPECT_TRUE(all_equal(all_state(towers, step), before));
  }
  EXPECT_EQ(step.count(), 3);
  EXPECT_FALSE(run(step, MeanSquare()).skipped);

  auto same = make_towers(cpu_devices(GetParam()), [] { return Noisy(); });
  SyncStep undisturbed(same, Adam{}, {.moving_average = MovingAverage{}});
  run(undisturbed, MeanSquare());
  undisturbed.set_count(3);
  run(undisturbed, MeanSquare());
  EXPECT_TRUE(all_equal(all_state(towers, step), all_state(same, undisturbed)));
}

/// A loss of 0 whose gradient is infinite.
at::Tensor infinite_gradient(Mlp& model, const Batch&) {
  return torch::sqrt(0 * model->hidden->weight.sum());
}

TEST(SyncStepResultTest, AGradientNormThatIsNotFiniteCountsAsALoss) {
  for (const StepOptions& options :
       {StepOptions{.max_grad_norm = 1}, StepOptions{.max_tower_grad_norm = 1},
        StepOptions{.measure_grad_norm = true}}) {
    auto towers = make_towers(cpu_devices(2), make_mlp);
    const auto before = copies(towers.master().trainable);
    SyncStep stopping(towers, Sgd{}, options);
    EXPECT_THROW(stopping.run(numbered_feeds({1, 1}), infinite_gradient), DataError);
    StepOptions skip = options;
    skip.on_non_finite = NonFinite::skip;
    SyncStep skipping(towers, Sgd{}, skip);
    EXPECT_TRUE(skipping.run(numbered_feeds({1, 1}), infinite_gradient).skipped);
    EXPECT_TRUE(all_equal(copies(towers.master().trainable), before));
  }
}

}  // namespace sync_step_result_test
}  // namespace pagoda
