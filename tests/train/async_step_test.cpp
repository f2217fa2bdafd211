#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/snapshot.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/async_fixtures.h"

namespace pagoda {
namespace async_step_test {

using testing::all_equal;
using testing::all_optimizers;
using testing::all_state;
using testing::feeds_of;
using testing::host_towers;
using testing::is;
using testing::Machine;
using testing::machines;
using testing::make_mlp;
using testing::make_noisy;
using testing::MeanSquare;
using testing::Mlp;
using testing::Noisy;
using testing::vector_feed;

const StepOptions kEverything{
    .max_tower_grad_norm = 1, .max_grad_norm = 0.5, .l2 = 0.01, .moving_average = MovingAverage{}};

class AsyncMachineTest : public ::testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Towers, AsyncMachineTest, ::testing::ValuesIn(machines()),
                         [](const auto& info) { return info.param.name(); });

TEST_P(AsyncMachineTest, AStalenessOfZeroIsTheSynchronousStepBitForBit) {
  const auto sizes = std::vector<std::int64_t>(static_cast<std::size_t>(2 * GetParam()), 3);
  auto towers = host_towers(GetParam(), make_noisy);
  auto same = host_towers(GetParam(), make_noisy);
  SyncStep sync(towers, Adam{.learning_rate = 0.01}, kEverything);
  AsyncStep async(same, Adam{.learning_rate = 0.01}, kEverything, {.max_staleness = 0});
  for (int i = 0; i < 5; ++i) {
    const auto feeds = feeds_of(vector_feed, sizes, i);
    EXPECT_EQ(async.run(feeds, MeanSquare()).loss, sync.run(feeds, MeanSquare()).loss);
  }
  EXPECT_TRUE(all_equal(all_state(same, async), all_state(towers, sync)));
}

TEST_P(AsyncMachineTest, EveryFeedBecomesOneUpdateAndAllTowersEndEqual) {
  auto towers = host_towers(GetParam(), make_noisy);
  AsyncStep step(towers, Adam{.learning_rate = 0.01}, kEverything);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(GetParam()), 3);
  const auto before = testing::copies(towers.master().trainable);
  double weight = 0;
  for (int i = 0; i < 6; ++i) {
    const StepResult result = step.run(feeds_of(vector_feed, sizes, i), MeanSquare());
    EXPECT_EQ(result.step, i);
    EXPECT_TRUE(std::isfinite(result.loss));
    EXPECT_TRUE(result.grad_norm.has_value());
    weight += result.weight;
  }
  EXPECT_EQ(weight, 6 * 3 * GetParam());
  const Checkpoint taken = snapshot(towers, step, {.step = step.count()}, "");
  const at::Tensor updates = taken.optimizer.back().tensor;
  EXPECT_TRUE(updates.eq(6 * GetParam().towers).all().item<bool>()) << updates;
  EXPECT_FALSE(all_equal(testing::copies(towers.master().trainable), before));
  for (int tower = 0; tower < towers.size(); ++tower) {
    EXPECT_TRUE(all_equal(testing::copies(towers.table(tower).trainable),
                          testing::copies(towers.master().trainable)));
    EXPECT_TRUE(all_equal(testing::copies(towers.table(tower).buffers),
                          testing::copies(towers.table(0).buffers)));
  }
}

TEST(AsyncStepTest, OneTowerIsTheSynchronousStepBitForBitWithEveryOptimizer) {
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
    for (const auto& [name, optimizer] : all_optimizers()) {
      SCOPED_TRACE(name);
      auto towers = host_towers(Machine(1, kind), make_noisy);
      auto same = host_towers(Machine(1, kind), make_noisy);
      SyncStep sync(towers, optimizer, kEverything);
      AsyncStep async(same, optimizer, kEverything);
      for (int i = 0; i < 4; ++i) {
        const auto feeds = feeds_of(vector_feed, {3, 2}, i);
        const StepResult expected = sync.run(feeds, MeanSquare());
        const StepResult found = async.run(feeds, MeanSquare());
        EXPECT_DOUBLE_EQ(found.loss, expected.loss);  // a mean, taken in another order
        EXPECT_EQ(found.grad_norm, expected.grad_norm);
        EXPECT_EQ(found.staleness, std::vector<double>{0});
      }
      async.finish();
      EXPECT_TRUE(all_equal(all_state(same, async), all_state(towers, sync)));
    }
  }
}

TEST(AsyncStepTest, OneTowerWithAnOptimizerOfTheUsers) {
  auto towers = host_towers(Machine(1), make_mlp);
  auto same = host_towers(Machine(1), make_mlp);
  torch::optim::Adam of_sync(towers.parameters());
  torch::optim::Adam of_async(same.parameters());
  SyncStep sync(towers, of_sync);
  AsyncStep async(same, of_async);
  for (int i = 0; i < 3; ++i) {
    sync.run(feeds_of(vector_feed, {3}, i), MeanSquare());
    async.run(feeds_of(vector_feed, {3}, i), MeanSquare());
  }
  async.finish();
  EXPECT_TRUE(all_equal(all_state(same, async), all_state(towers, sync)));
}

TEST(AsyncStepTest, ACheckpointWaitsForWhatIsUnderWayAndGoesOn) {
  const auto run = [](AsyncStep<Noisy>& step, int steps) {
    for (int i = 0; i < steps; ++i)
      step.run(feeds_of(vector_feed, {3}, static_cast<int>(step.count())), MeanSquare());
  };
  auto whole_towers = host_towers(Machine(1), make_noisy);
  AsyncStep whole(whole_towers, Adam{}, kEverything);
  run(whole, 8);

  auto first_towers = host_towers(Machine(1), make_noisy);
  AsyncStep first(first_towers, Adam{}, kEverything);
  run(first, 4);
  const Checkpoint middle = snapshot(first_towers, first, {.step = first.count()}, "");
  auto second_towers = host_towers(Machine(1), make_noisy);
  AsyncStep second(second_towers, Adam{}, kEverything);
  run(second, 2);
  EXPECT_EQ(restore(middle, second_towers, second).step, 4);
  run(second, 4);
  whole.finish();
  second.finish();
  EXPECT_TRUE(all_equal(all_state(second_towers, second), all_state(whole_towers, whole)));
}

TEST(AsyncStepTest, AveragedParametersWaitForWhatIsUnderWay) {
  auto towers = host_towers(Machine(3), make_mlp);
  AsyncStep step(towers, Adam{}, {.moving_average = MovingAverage{.decay = 0.5}});
  for (int i = 0; i < 3; ++i) step.run(feeds_of(vector_feed, {2, 2, 2}, i), MeanSquare());
  {
    const AveragedParameters averaged(towers, step);
    for (int tower = 0; tower < 3; ++tower)
      EXPECT_TRUE(
          all_equal(testing::copies(towers.table(tower).trainable), step.updater().averages()));
  }
  EXPECT_FALSE(all_equal(testing::copies(towers.table(1).trainable), step.updater().averages()));
  step.run(feeds_of(vector_feed, {2, 2, 2}, 3), MeanSquare());
  step.finish();
}

TEST(AsyncStepTest, AFailureOnATowerIsReportedAndTheNextCallWorks) {
  for (const char* phase : {"feed", "forward", "backward", "collect", "update", "renew"}) {
    for (int bad = 0; bad < 3; ++bad) {
      SCOPED_TRACE(std::string(phase) + " of tower " + std::to_string(bad));
      std::atomic<bool> armed = true;
      auto towers = host_towers(Machine(3), make_mlp);
      AsyncStep step(towers, Adam{},
                     {.on_phase =
                          [&](const TowerJob& job) {
                            if (is(job, bad, phase) && armed.exchange(false))
                              throw std::runtime_error("broken");
                          }},
                     {.max_staleness = 3});
      std::string text;
      try {
        for (int i = 0; i < 3; ++i) step.run(feeds_of(vector_feed, {1, 1, 1}, i), MeanSquare());
        step.finish();
      } catch (const TowerError& error) {
        text = error.what();
        EXPECT_EQ(error.tower(), bad);
        EXPECT_EQ(error.phase(), phase);
      }
      EXPECT_NE(text.find("broken"), std::string::npos) << text;
      for (int i = 0; i < 3; ++i) step.run(feeds_of(vector_feed, {1, 1, 1}, i), MeanSquare());
      step.finish();
    }
  }
}

TEST(AsyncStepTest, ALossThatIsNotFiniteStopsOrIsSkipped) {
  const auto broken = [](Mlp& model, const Batch& batch) {
    const at::Tensor loss = MeanSquare()(model, batch);
    return batch.samples.front() == 0 ? loss * std::numeric_limits<double>::quiet_NaN() : loss;
  };
  auto towers = host_towers(Machine(1), make_mlp);
  const auto before = testing::copies(towers.master().trainable);
  {
    AsyncStep step(towers, Sgd{});
    const std::string text = testing::message_of<TowerError>([&] {
      step.run(feeds_of(vector_feed, {2}, 0), broken);
      step.finish();
    });
    EXPECT_NE(text.find("the loss is"), std::string::npos) << text;
    EXPECT_NE(text.find("for samples 0, 1"), std::string::npos) << text;
  }
  AsyncStep step(towers, Sgd{}, {.on_non_finite = NonFinite::skip});
  EXPECT_TRUE(step.run(feeds_of(vector_feed, {2}, 0), broken).skipped);
  step.finish();
  EXPECT_TRUE(all_equal(testing::copies(towers.master().trainable), before));
  EXPECT_FALSE(step.run(feeds_of(vector_feed, {2}, 1), broken).skipped);
  step.finish();
  EXPECT_FALSE(all_equal(testing::copies(towers.master().trainable), before));
}

TEST(AsyncStepTest, TheRateFactorHoldsForItsUpdates) {
  auto towers = host_towers(Machine(2), make_mlp);
  const auto before = testing::copies(towers.master().trainable);
  AsyncStep step(towers, Sgd{.learning_rate = 0.5});
  step.set_rate_factor(0);
  EXPECT_EQ(step.run(feeds_of(vector_feed, {2, 2}, 0), MeanSquare()).learning_rate, 0);
  step.finish();
  EXPECT_TRUE(all_equal(testing::copies(towers.master().trainable), before));

  // Half of a rate is as good as half a factor.
  auto same = host_towers(Machine(1), make_mlp);
  auto halved = host_towers(Machine(1), make_mlp);
  AsyncStep by_rate(same, Sgd{.learning_rate = 0.25});
  AsyncStep by_factor(halved, Sgd{.learning_rate = 0.5});
  by_factor.set_rate_factor(0.5);
  for (int i = 0; i < 3; ++i) {
    by_rate.run(feeds_of(vector_feed, {2}, i), MeanSquare());
    EXPECT_EQ(by_factor.run(feeds_of(vector_feed, {2}, i), MeanSquare()).learning_rate, 0.25);
  }
  by_rate.finish();
  by_factor.finish();
  EXPECT_TRUE(all_equal(all_state(halved, by_factor), all_state(same, by_rate)));
}

TEST(AsyncStepTest, AnUpdateThatIsSkippedLeavesTheBuffersOfTheStepsBeforeIt) {
  const auto broken_at = [](std::int64_t sample) {
    return [sample](Noisy& model, const Batch& batch) {
      const at::Tensor loss = MeanSquare()(model, batch);
      return batch.samples.front() == sample ? loss * std::numeric_limits<double>::quiet_NaN()
                                             : loss;
    };
  };
  auto towers = host_towers(Machine(1), make_noisy);
  AsyncStep step(towers, Sgd{}, {.on_non_finite = NonFinite::skip});
  constexpr std::int64_t kNever = -1;
  step.run(std::vector<Batch>{vector_feed(0, 3)}, broken_at(kNever));
  step.run(std::vector<Batch>{vector_feed(3, 3)}, broken_at(kNever));
  const auto buffers = [&] { return testing::copies(towers.table(0).buffers); };
  towers.run({.name = "wait"}, [](TowerJob&) {});
  const auto before = buffers();
  EXPECT_TRUE(step.run(std::vector<Batch>{vector_feed(6, 3)}, broken_at(6)).skipped);
  towers.run({.name = "wait"}, [](TowerJob&) {});
  EXPECT_TRUE(all_equal(buffers(), before));
  step.finish();
  EXPECT_TRUE(all_equal(buffers(), before));
}

TEST(AsyncStepTest, RefusesWhatCannotBe) {
  for (const ParameterPlacement placement :
       {ParameterPlacement::shared, ParameterPlacement::mirrored, ParameterPlacement::spread}) {
    auto towers = make_towers(Machine(2).devices(), make_mlp, {.placement = placement});
    const std::string text = testing::message_of<UsageError>([&] { AsyncStep(towers, Adam{}); });
    EXPECT_NE(text.find("place them host"), std::string::npos) << text;
    EXPECT_NO_THROW(AsyncStep(towers, Adam{}, {}, {.max_staleness = 0}));
  }
  auto towers = host_towers(Machine(2), make_mlp);
  EXPECT_THROW(AsyncStep(towers, Adam{}, {}, {.max_staleness = -1}), UsageError);
  torch::optim::LBFGS closure(towers.parameters());
  EXPECT_THROW(AsyncStep(towers, closure), UsageError);
  AsyncStep step(towers, Adam{});
  EXPECT_THROW(step.run(std::vector<Batch>{}, MeanSquare()), UsageError);
}

}  // namespace async_step_test
}  // namespace pagoda
