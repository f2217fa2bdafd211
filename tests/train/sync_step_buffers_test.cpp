// BatchNorm's buffers after a step, by formula.

#include <pagoda/train/sync_step.h>

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/machines.h"
#include "support/small_models.h"

namespace pagoda {
namespace sync_step_buffers_test {

using testing::all_equal;
using testing::copies;
using testing::feeds_of;
using testing::kInputs;
using testing::Machine;
using testing::machines;
using testing::vector_feed;
using testing::whole;

constexpr double kMomentum = 0.1;

class StepBuffersTest : public ::testing::TestWithParam<Machine> {
 protected:
  using BatchNorm = torch::nn::BatchNorm1d;

  static BatchNorm make_norm() {
    BatchNorm norm(torch::nn::BatchNormOptions(kInputs).momentum(kMomentum));
    norm->to(torch::kDouble);
    return norm;
  }

  /// Trains on feeds of these sizes; afterwards all towers must agree.
  void run(BufferRule rule, const std::vector<std::int64_t>& sizes, int steps = 1) {
    SyncStep step(towers_, Sgd{.learning_rate = 0}, {.buffers = rule});
    for (int i = 0; i < steps; ++i) {
      step.run(feeds_of(vector_feed, sizes, i), [](BatchNorm& norm, const Batch& batch) {
        return norm(batch.input).square().mean();
      });
    }
    for (int tower = 1; tower < towers_.size(); ++tower) {
      EXPECT_TRUE(
          all_equal(copies(towers_.table(tower).buffers), copies(towers_.table(0).buffers)));
    }
  }

  at::Tensor mean() const { return towers_.model(0)->running_mean.cpu(); }
  at::Tensor variance() const { return towers_.model(0)->running_var.cpu(); }
  std::int64_t batches() const {
    return towers_.model(0)->num_batches_tracked.item<std::int64_t>();
  }

  Towers<BatchNorm> towers_ = make_towers(GetParam().devices(), make_norm);
};

INSTANTIATE_TEST_SUITE_P(Towers, StepBuffersTest, ::testing::ValuesIn(machines()));

/// What BatchNorm makes of a running statistic that was `old`.
at::Tensor moved(const at::Tensor& old, const at::Tensor& seen) {
  return (1 - kMomentum) * old + kMomentum * seen;
}

std::vector<std::int64_t> sizes_from_two(int count) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count));
  std::iota(sizes.begin(), sizes.end(), 2);
  return sizes;
}

TEST_P(StepBuffersTest, TheRunningMeanIsThatOfTheWholeBatch) {
  const auto sizes = sizes_from_two(GetParam());
  run(BufferRule::mean, sizes, 2);
  at::Tensor expected = torch::zeros(kInputs, torch::kDouble);
  for (int i = 0; i < 2; ++i) {
    expected = moved(expected, whole(feeds_of(vector_feed, sizes, i)).input.mean(0));
  }
  EXPECT_TRUE(mean().allclose(expected, 0, 1e-14));
  EXPECT_EQ(batches(), 2);
}

TEST_P(StepBuffersTest, TheRunningVarianceIsTheMeanOfTheTowersVariances) {
  const auto sizes = sizes_from_two(GetParam());
  run(BufferRule::mean, sizes);
  at::Tensor seen = torch::zeros(kInputs, torch::kDouble);
  const auto feeds = feeds_of(vector_feed, sizes, 0);
  for (const auto& feed : feeds)
    seen = seen + feed.input.var(0) * (feed.weight() / whole(feeds).weight());
  EXPECT_TRUE(variance().allclose(moved(torch::ones(kInputs, torch::kDouble), seen), 0, 1e-14));
}

TEST_P(StepBuffersTest, FirstKeepsTheFirstTowers) {
  run(BufferRule::first, sizes_from_two(GetParam()));
  const at::Tensor zero = torch::zeros(kInputs, torch::kDouble);
  EXPECT_TRUE(mean().allclose(moved(zero, vector_feed(0, 2).input.mean(0)), 0, 1e-14));
}

TEST_P(StepBuffersTest, TowersWithoutAFeedDoNotCount) {
  run(BufferRule::mean, {3});
  const at::Tensor zero = torch::zeros(kInputs, torch::kDouble);
  EXPECT_TRUE(mean().allclose(moved(zero, vector_feed(0, 3).input.mean(0)), 0, 1e-14));
  EXPECT_EQ(batches(), 1);
}

TEST_P(StepBuffersTest, RefreshSpreadsWhatWasLoaded) {
  auto towers =
      make_towers(GetParam().devices(), make_norm, {.placement = ParameterPlacement::host});
  SyncStep step(towers, Sgd{});
  towers.master().trainable[0].tensor.detach().fill_(5);
  towers.model(0)->running_mean.fill_(6);
  step.refresh_towers();
  for (int tower = 0; tower < GetParam(); ++tower) {
    EXPECT_TRUE(towers.model(tower)->weight.cpu().equal(torch::full(kInputs, 5.0, torch::kDouble)));
    EXPECT_TRUE(
        towers.model(tower)->running_mean.cpu().equal(torch::full(kInputs, 6.0, torch::kDouble)));
  }
}

}  // namespace sync_step_buffers_test
}  // namespace pagoda
