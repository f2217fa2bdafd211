#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/run_state.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/training_bits.h"

namespace pagoda {
namespace async_step_test {

using testing::all_equal;
using testing::all_optimizers;
using testing::all_state;
using testing::feeds_of;
using testing::in_double;
using testing::Machine;
using testing::machines;
using testing::MeanSquare;
using testing::Mlp;
using testing::Noisy;
using testing::vector_feed;

const SyncStepOptions kEverything{
    .max_tower_grad_norm = 1, .max_grad_norm = 0.5, .l2 = 0.01, .moving_average = MovingAverage{}};

/// A group with its master on the host, in double precision, and what the step needs.
template <class Model>
Towers<Model> host_towers(const Machine& machine, Model (*make)()) {
  return make_towers(machine.devices(), make, {.seed = 7, .placement = Placement::host});
}

Mlp make_mlp() { return in_double(Mlp()); }
Noisy make_noisy() { return Noisy(); }

/// Lets threads wait for numbers of events.
class Counter {
 public:
  void add() {
    {
      const std::lock_guard lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

bool is(const TowerJob& job, int tower, const char* phase) {
  return job.tower == tower && std::string(phase) == job.phase;
}

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
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::sim}) {
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

TEST(AsyncStepTest, ATowerThatStandsStillDoesNotStopTheOthersAndItsStalenessIsCounted) {
  constexpr int kUpdates = 20;
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::sim}) {
    Counter read;
    Counter released;
    Counter written;
    auto towers = host_towers(Machine(2, kind), make_mlp);
    AsyncStep step(towers, Sgd{.learning_rate = 0.1}, {.on_phase = [&](const TowerJob& job) {
                     if (is(job, 1, "forward")) read.add();
                     if (is(job, 0, "update")) read.wait_for(1);
                     if (is(job, 1, "backward")) released.wait_for(1);
                     if (is(job, 1, "renew")) written.add();
                   }});
    EXPECT_TRUE(std::isnan(step.run(feeds_of(vector_feed, {3, 3}, 0), MeanSquare()).staleness[1]));
    for (int i = 1; i < kUpdates; ++i) {
      const StepResult result = step.run(feeds_of(vector_feed, {3}, i), MeanSquare());
      EXPECT_EQ(result.staleness[0], 0);
      EXPECT_TRUE(std::isnan(result.tower_losses[1]));
    }
    released.add();
    written.wait_for(1);
    const StepResult result = step.run(feeds_of(vector_feed, {3}, kUpdates), MeanSquare());
    EXPECT_EQ(result.staleness[1], kUpdates);
    EXPECT_TRUE(std::isfinite(result.tower_losses[1]));
    step.finish();
  }
}

/// The gradients of the model with these parameters on a feed.
std::vector<at::Tensor> gradients_at(const std::vector<at::Tensor>& parameters, const Batch& feed) {
  Mlp model = make_mlp();
  const auto own = testing::trainable_of(*model);
  {
    torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < own.size(); ++i) own[i].copy_(parameters[i]);
  }
  MeanSquare()(model, feed).backward();
  std::vector<at::Tensor> gradients;
  for (const auto& one : own) gradients.push_back(one.grad());
  return gradients;
}

void descend(std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients,
             double rate) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = parameters[i] - rate * gradients[i];
}

TEST(AsyncStepTest, AnUpdateWaitsForAGradientThatItWouldMakeTooOld) {
  constexpr double kRate = 0.1;
  Counter read;
  Counter updates_of_first;
  auto towers = host_towers(Machine(2), make_mlp);
  std::vector<at::Tensor> expected = testing::copies(towers.master().trainable);
  const std::vector<at::Tensor> initial = expected;
  AsyncStep step(towers, Sgd{.learning_rate = kRate},
                 {.on_phase =
                      [&](const TowerJob& job) {
                        if (is(job, 1, "forward")) read.add();
                        if (is(job, 0, "update")) {
                          read.wait_for(1);
                          updates_of_first.add();
                        }
                        if (is(job, 1, "backward")) updates_of_first.wait_for(3);
                      }},
                 {.max_staleness = 2});
  const auto first = feeds_of(vector_feed, {3, 5}, 0);
  const Batch second = vector_feed(100, 3);
  const Batch third = vector_feed(200, 3);
  step.run(first, MeanSquare());
  step.run(std::vector<Batch>{second}, MeanSquare());
  step.run(std::vector<Batch>{third}, MeanSquare());
  step.finish();

  descend(expected, gradients_at(expected, first[0]), kRate);
  descend(expected, gradients_at(expected, second), kRate);
  const auto of_third = gradients_at(expected, third);
  descend(expected, gradients_at(initial, first[1]), kRate);  // two updates old: before the third
  descend(expected, of_third, kRate);
  EXPECT_LT(testing::largest_difference(testing::copies(towers.master().trainable), expected),
            1e-12);
}

TEST(AsyncStepTest, TowersThatWouldWaitForEachOtherMakeOneUpdate) {
  constexpr double kRate = 0.1;
  Counter read;
  Counter first_is_done;
  auto towers = host_towers(Machine(3), make_mlp);
  std::vector<at::Tensor> expected = testing::copies(towers.master().trainable);
  const std::vector<at::Tensor> initial = expected;
  AsyncStep step(towers, Sgd{.learning_rate = kRate},
                 {.on_phase =
                      [&](const TowerJob& job) {
                        if (std::string("forward") == job.phase) read.add();
                        if (is(job, 0, "update")) read.wait_for(3);
                        if (is(job, 0, "renew")) first_is_done.add();
                        if (job.tower > 0 && std::string("update") == job.phase)
                          first_is_done.wait_for(1);
                      }},
                 {.max_staleness = 1});
  const auto feeds = feeds_of(vector_feed, {3, 5, 2}, 0);
  step.run(feeds, MeanSquare());
  step.finish();

  descend(expected, gradients_at(initial, feeds[0]), kRate);
  descend(expected, gradients_at(initial, feeds[1]), kRate * 5 / 7);
  descend(expected, gradients_at(initial, feeds[2]), kRate * 2 / 7);
  EXPECT_LT(testing::largest_difference(testing::copies(towers.master().trainable), expected),
            1e-12);
  EXPECT_EQ(step.updater().state().optimizer.back().tensor[0].item<std::int64_t>(), 2);
}

TEST(AsyncStepTest, StalenessStaysWithinItsBound) {
  for (const int bound : {1, 2, 5}) {
    auto towers = host_towers(Machine(4), make_mlp);
    AsyncStep step(towers, Sgd{.learning_rate = 0.01}, {}, {.max_staleness = bound});
    for (int i = 0; i < 40; ++i) {
      const StepResult result = step.run(feeds_of(vector_feed, {1, 9, 2, 30}, i), MeanSquare());
      for (const double staleness : result.staleness) {
        EXPECT_TRUE(std::isnan(staleness) || staleness <= bound) << staleness;
      }
    }
    step.finish();
  }
}

/// Parameters of several blocks whose gradients are all one: whole updates keep all elements equal.
struct LevelImpl : torch::nn::Module {
  at::Tensor first = register_parameter("first", torch::zeros({70'000}));
  at::Tensor second = register_parameter("second", torch::zeros({50, 700}));
};
TORCH_MODULE(Level);

TEST(AsyncStepTest, NobodySeesAPartOfAnUpdate) {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::sim}) {
    auto towers = host_towers<Level>(Machine(4, kind), [] { return Level(); });
    AsyncStep step(towers, Adam{.learning_rate = 0.1}, {.moving_average = MovingAverage{}});
    for (int i = 0; i < 50; ++i) {
      step.run(feeds_of(vector_feed, {1, 1, 1, 1}, i), [](Level& model, const Batch&) {
        const at::Tensor all = torch::cat({model->first, model->second.flatten()}).detach();
        if (all.min().item<float>() != all.max().item<float>())
          throw std::runtime_error("a part of an update was seen");
        return model->first.sum() + model->second.sum();
      });
    }
    step.finish();
    const float level = towers.master().trainable[0].tensor[0].item<float>();
    EXPECT_NE(level, 0);
    const UpdaterState state = step.updater().state();
    for (const auto& entry : state.optimizer)
      EXPECT_TRUE(entry.tensor.eq(entry.tensor.flatten()[0]).all().item<bool>()) << entry.name;
    for (const auto& average : state.averages)
      EXPECT_TRUE(average.eq(average.flatten()[0]).all().item<bool>());
  }
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

TEST(AsyncStepTest, RefusesWhatCannotBe) {
  for (const Placement placement : {Placement::shared, Placement::mirrored, Placement::spread}) {
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
