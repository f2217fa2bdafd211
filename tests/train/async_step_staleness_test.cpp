// Towers that do not wait for each other: who sees which update, how old it may be, and that nobody
// sees a part of one.

#include <pagoda/train/async_step.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/async_fixtures.h"

namespace pagoda {
namespace async_step_staleness_test {

using testing::Counter;
using testing::feeds_of;
using testing::host_towers;
using testing::is;
using testing::Machine;
using testing::make_mlp;
using testing::MeanSquare;
using testing::Mlp;
using testing::vector_feed;

TEST(AsyncStalenessTest, ATowerThatStandsStillDoesNotStopTheOthersAndItsStalenessIsCounted) {
  constexpr int kUpdates = 20;
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
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

TEST(AsyncStalenessTest, AnUpdateWaitsForAGradientThatItWouldMakeTooOld) {
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
  descend(expected, gradients_at(initial, first[1]), kRate / 3);  // two updates old: comes first
  descend(expected, of_third, kRate / 2);
  EXPECT_LT(testing::largest_difference(testing::copies(towers.master().trainable), expected),
            1e-12);
}

TEST(AsyncStalenessTest, TowersThatWouldWaitForEachOtherMakeOneUpdate) {
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
  descend(expected, gradients_at(initial, feeds[1]), kRate / 2 * 5 / 7);  // one update old
  descend(expected, gradients_at(initial, feeds[2]), kRate / 2 * 2 / 7);
  EXPECT_LT(testing::largest_difference(testing::copies(towers.master().trainable), expected),
            1e-12);
  EXPECT_EQ(step.updater().state().optimizer.back().tensor[0].item<std::int64_t>(), 2);
}

TEST(AsyncStalenessTest, StalenessStaysWithinItsBound) {
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

TEST(AsyncStalenessTest, NobodySeesAPartOfAnUpdate) {
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
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

}  // namespace async_step_staleness_test
}  // namespace pagoda
