// With a torch::optim::Optimizer of the user's: the same as training with it on one device.

#include <pagoda/base/error.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "support/golden.h"

namespace pagoda {
namespace sync_step_torch_optimizer_test {

using testing::all_equal;
using testing::all_optimizers;
using testing::copies;
using testing::copy_values;
using testing::cpu_devices;
using testing::feeds_of;
using testing::in_double;
using testing::kGoldenTolerance;
using testing::largest_difference;
using testing::MakeFeed;
using testing::MeanSquare;
using testing::Mlp;
using testing::PlacedMachine;
using testing::PlainTraining;
using testing::single_copy_machines;
using testing::TorchOptimizer;
using testing::vector_feed;
using testing::whole;
using testing::word_feed;
using testing::Words;

class TorchOptimizerTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  /// Trains with LibTorch's form of `optimizer` on towers and on one device.
  template <class MakeModel, class MakePlainModel>
  void expect_equals_plain(const OptimizerOptions& optimizer, const StepOptions& options,
                           MakeFeed make_feed, MakeModel make_model, MakePlainModel make_plain) {
    const auto [machine, placement] = GetParam();
    auto towers = make_towers(machine.devices(), make_model, {.placement = placement});
    auto plain_model = make_plain();
    copy_values(towers, *plain_model);
    const auto torch_optimizer = std::visit(TorchOptimizer{towers.parameters()}, optimizer);
    SyncStep step(towers, *torch_optimizer, options);
    PlainTraining plain(plain_model, optimizer, options);
    for (int i = 0; i < 4; ++i) {
      const auto feeds = feeds_of(make_feed, {3, 1, 4, 2}, i);
      step.run(feeds, MeanSquare());
      plain.step(whole(feeds));
    }
    EXPECT_LT(largest_difference(copies(towers.master().trainable), plain.parameters()),
              kGoldenTolerance);
    EXPECT_LT(largest_difference(step.updater().averages(), plain.averages()), kGoldenTolerance);
    EXPECT_TRUE(all_equal(copies(towers.table(machine.towers - 1).trainable),
                          copies(towers.master().trainable)));
  }
};

INSTANTIATE_TEST_SUITE_P(Towers, TorchOptimizerTest, ::testing::ValuesIn(single_copy_machines()));

Mlp make_mlp() { return in_double(Mlp()); }
Words sparse_words() { return in_double(Words(true)); }
Words dense_words() { return in_double(Words(false)); }

TEST_P(TorchOptimizerTest, EqualsOneDevice) {
  for (const auto& [name, optimizer] : all_optimizers()) {
    SCOPED_TRACE(name);
    expect_equals_plain(optimizer, {}, vector_feed, make_mlp, make_mlp);
  }
}

TEST_P(TorchOptimizerTest, EqualsOneDeviceWithL2ClippingAndAverage) {
  const StepOptions options{
      .max_grad_norm = 0.2, .l2 = 0.3, .moving_average = MovingAverage{.decay = 0.9}};
  expect_equals_plain(Sgd{.learning_rate = 0.1, .momentum = 0.9}, options, vector_feed, make_mlp,
                      make_mlp);
  expect_equals_plain(Sgd{.learning_rate = 0.5}, options, word_feed, sparse_words, dense_words);
}

TEST_P(TorchOptimizerTest, GetsRowGradientsAsSparseTensors) {
  expect_equals_plain(Sgd{.learning_rate = 0.5}, {}, word_feed, sparse_words, dense_words);
  expect_equals_plain(Adagrad{.learning_rate = 0.1}, {}, word_feed, sparse_words, dense_words);
}

TEST_P(TorchOptimizerTest, FollowsASchedule) {
  const auto train = [](bool own) {
    const auto [machine, placement] = GetParam();
    auto towers = make_towers(machine.devices(), make_mlp, {.placement = placement});
    const LearningRate rate = StepDecay{.base = 0.5, .factor = 0.5, .every = 1};
    torch::optim::SGD optimizer(towers.parameters(), torch::optim::SGDOptions(123));
    const auto run = [&](auto step) {
      double last = 0;
      for (int i = 0; i < 3; ++i)
        last = step->run(feeds_of(vector_feed, {2, 3}, i), MeanSquare()).learning_rate;
      EXPECT_EQ(last, 0.125);
    };
    if (own) {
      run(std::make_unique<SyncStep<Mlp>>(towers, Sgd{.learning_rate = rate}));
    } else {
      run(std::make_unique<SyncStep<Mlp>>(towers, optimizer, StepOptions{.learning_rate = rate}));
    }
    return copies(towers.master().trainable);
  };
  EXPECT_LT(largest_difference(train(true), train(false)), kGoldenTolerance);
}

/// Two groups of a model's parameters with rates of their own. (Not LibTorch's default rate, which
/// counts as none.)
struct Groups {
  Groups(Towers<Mlp>& towers, double first, double second)
      : optimizer(groups_of(towers.parameters(), first, second), torch::optim::SGDOptions(123)) {}

  static std::vector<torch::optim::OptimizerParamGroup> groups_of(
      const std::vector<at::Tensor>& all, double first, double second) {
    const auto half = all.begin() + 2;
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(
        std::vector<at::Tensor>(all.begin(), half),
        std::make_unique<torch::optim::SGDOptions>(torch::optim::SGDOptions(first).momentum(0.9)));
    groups.emplace_back(
        std::vector<at::Tensor>(half, all.end()),
        std::make_unique<torch::optim::SGDOptions>(torch::optim::SGDOptions(second).momentum(0.9)));
    return groups;
  }
  std::vector<double> rates() const {
    return {optimizer.param_groups()[0].options().get_lr(),
            optimizer.param_groups()[1].options().get_lr()};
  }

  torch::optim::SGD optimizer;
};

TEST(TorchOptimizerTest, AScheduleScalesGroupsWithRatesOfTheirOwn) {
  const LearningRate rate = CosineDecay{.base = 0.02, .steps = 10};
  const auto make = [] { return make_towers(cpu_devices(2), make_mlp, {.seed = 5}); };
  const auto run = [](auto& step, int from, int to) {
    for (int i = from; i < to; ++i) {
      const auto result = step.run(feeds_of(vector_feed, {2, 3}, i), MeanSquare());
      EXPECT_EQ(result.learning_rate, (LearningRate(CosineDecay{.base = 0.02, .steps = 10}).at(i)));
    }
  };
  auto towers = make();
  Groups groups(towers, 0.02, 0.002);
  SyncStep step(towers, groups.optimizer, {.learning_rate = rate});
  run(step, 0, 3);
  const Checkpoint middle = snapshot(towers, step, {.step = 3}, "");
  run(step, 3, 6);
  EXPECT_DOUBLE_EQ(groups.rates()[0], rate.at(5));
  EXPECT_DOUBLE_EQ(groups.rates()[1], rate.at(5) / 10);

  // A run that goes on knows the groups' own rates from its optimizer as it was built.
  auto resumed_towers = make();
  Groups resumed(resumed_towers, 0.02, 0.002);
  SyncStep resumed_step(resumed_towers, resumed.optimizer, {.learning_rate = rate});
  restore(middle, resumed_towers, resumed_step);
  run(resumed_step, 3, 6);
  EXPECT_EQ(resumed.rates(), groups.rates());
  EXPECT_TRUE(
      all_equal(copies(resumed_towers.master().trainable), copies(towers.master().trainable)));

  // The same groups as rules of a built-in optimizer.
  auto others = make();
  SyncStep builtin(others, Sgd{.learning_rate = rate, .momentum = 0.9},
                   {.parameter_rules = {{.names = "output.*", .rate_factor = 0.1}}});
  run(builtin, 0, 6);
  EXPECT_LT(
      largest_difference(copies(others.master().trainable), copies(towers.master().trainable)),
      kGoldenTolerance);
}

TEST(TorchOptimizerTest, AScheduleWithoutABaseCannotScaleGroups) {
  auto towers = make_towers(cpu_devices(1), make_mlp);
  Groups different(towers, 0.02, 0.002);
  EXPECT_THROW(SyncStep(towers, different.optimizer, {.learning_rate = 0.0}), UsageError);
  Groups same(towers, 0.02, 0.02);
  SyncStep(towers, same.optimizer, {.learning_rate = 0.0});
}

TEST(TorchOptimizerTest, ReportsItsOwnLearningRate) {
  auto towers = make_towers(cpu_devices(1), make_mlp);
  torch::optim::SGD optimizer(towers.parameters(), torch::optim::SGDOptions(0.375));
  SyncStep step(towers, optimizer);
  EXPECT_EQ(step.run(feeds_of(vector_feed, {2}, 0), MeanSquare()).learning_rate, 0.375);
}

TEST(TorchOptimizerTest, RefusesLbfgs) {
  auto towers = make_towers(cpu_devices(1), make_mlp);
  torch::optim::LBFGS optimizer(towers.parameters());
  EXPECT_THROW(SyncStep(towers, optimizer), UsageError);
}

}  // namespace sync_step_torch_optimizer_test
}  // namespace pagoda
