// The same run gives the same bits: with dropout, on any timing, beside other groups.

#include <pagoda/train/sync_step.h>

#include <atomic>
#include <latch>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/training_bits.h"

namespace pagoda {
namespace sync_step_repeat_test {

using testing::all_equal;
using testing::feeds_of;
using testing::Machine;
using testing::machines;
using testing::NoisyTraining;
using testing::vector_feed;

class RepeatTest : public ::testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Towers, RepeatTest, ::testing::ValuesIn(machines()));

TEST_P(RepeatTest, TwoRunsAreEqualAndSeedsMatter) {
  const auto bits = NoisyTraining(GetParam(), 7).run_steps(40);
  EXPECT_TRUE(all_equal(NoisyTraining(GetParam(), 7).run_steps(40), bits));
  EXPECT_FALSE(all_equal(NoisyTraining(GetParam(), 8).run_steps(40), bits));
}

/// Lets the towers pass the beginning of a phase one after another, in a given order.
class Queue {
 public:
  Queue(int towers, bool reverse) : towers_(towers), reverse_(reverse) {}

  void pass(int tower) {
    const int place = reverse_ ? towers_ - 1 - tower : tower;
    for (int now = turn_; now % towers_ != place; now = turn_) turn_.wait(now);
    ++turn_;
    turn_.notify_all();
  }

 private:
  const int towers_;
  const bool reverse_;
  std::atomic<int> turn_ = 0;
};

TEST_P(RepeatTest, TimingDoesNotMatter) {
  const auto bits_in_order = [](bool reverse) {
    Queue collecting(GetParam(), reverse);
    Queue updating(GetParam(), !reverse);
    const auto on_phase = [&](const TowerJob& job) {
      if (job.phase == std::string("collect")) collecting.pass(job.tower);
      if (job.phase == std::string("update")) updating.pass(job.tower);
    };
    return NoisyTraining(GetParam(), 7, on_phase).run_steps(10);
  };
  EXPECT_TRUE(all_equal(bits_in_order(false), bits_in_order(true)));
}

TEST_P(RepeatTest, OtherGroupsInTheProcessDoNotMatter) {
  const auto alone = NoisyTraining(GetParam(), 7).run_steps(20);

  std::latch other_is_running(1);
  std::atomic<bool> done = false;
  std::thread other([&] {
    NoisyTraining training(2, 99);
    training.run_step();
    other_is_running.count_down();
    while (!done) {
      training.run_step();
      torch::manual_seed(1);
      torch::rand(100);
    }
  });
  other_is_running.wait();
  const auto beside = NoisyTraining(GetParam(), 7).run_steps(20);
  done = true;
  other.join();
  EXPECT_TRUE(all_equal(beside, alone));
}

TEST_P(RepeatTest, EveryTowerAndStepDrawsItsOwnMask) {
  auto towers = make_towers(GetParam().devices(), [] { return torch::nn::Dropout(0.5); });
  SyncStep step(towers, Sgd{});
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(GetParam()), 1);
  // The mask read as a binary number: a tower's loss names its mask.
  const auto mask_number = [](torch::nn::Dropout& dropout, const Batch&) {
    const at::Tensor kept = dropout(torch::ones(40, torch::kDouble)) > 0;
    return torch::dot(kept.to(torch::kDouble), torch::pow(2, torch::arange(40, torch::kDouble)));
  };
  std::set<double> masks;
  for (int i = 0; i < 5; ++i) {
    for (const double mask : step.run(feeds_of(vector_feed, sizes, i), mask_number).tower_losses) {
      masks.insert(mask);
    }
  }
  EXPECT_EQ(masks.size(), static_cast<std::size_t>(5 * GetParam()));
}

TEST_P(RepeatTest, AStepIsAFunctionOfItsNumber) {
  NoisyTraining through(GetParam(), 7);
  through.run_steps(3);
  const auto at_three = through.state();
  const double loss = through.run_step().loss;

  NoisyTraining resumed(GetParam(), 7);
  resumed.run_steps(1);
  const auto parameters = resumed.towers().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].detach().copy_(at_three[i]);
  resumed.step().refresh_towers();
  resumed.step().set_count(3);
  EXPECT_EQ(resumed.run_step().loss, loss);
}

}  // namespace sync_step_repeat_test
}  // namespace pagoda
