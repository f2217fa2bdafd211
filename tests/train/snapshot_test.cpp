#include <pagoda/base/error.h>
#include <pagoda/train/snapshot.h>

#include <memory>
#include <string>
#include <tuple>
#include <variant>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/machines.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace snapshot_test {

using testing::cpu_devices;
using testing::MeanSquare;
using testing::Mlp;
using testing::Noisy;
using testing::TorchOptimizer;

const StepOptions kWithAverage{.moving_average = MovingAverage{.decay = 0.5}};

/// A model with dropout and BatchNorm, its step, and `steps` of training from where it stands.
struct Training {
  Training(int count, ParameterPlacement placement, std::uint64_t seed)
      : towers(make_towers(cpu_devices(count), [] { return Noisy(); },
                           {.seed = seed, .placement = placement})),
        step(towers, Adam{.learning_rate = 0.01}, kWithAverage) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step.run(testing::feeds_of(testing::vector_feed, {4, 3, 2}, 9 * step.count()), MeanSquare{});
    }
  }
  Checkpoint taken() { return snapshot(towers, step, {.step = step.count()}, "config"); }

  Towers<Noisy> towers;
  SyncStep<Noisy> step;
};

bool same_tensors(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || !a[i].tensor.equal(b[i].tensor)) return false;
  }
  return a.size() == b.size();
}

class SnapshotTest : public ::testing::TestWithParam<std::tuple<int, ParameterPlacement>> {};
INSTANTIATE_TEST_SUITE_P(TowersAndPlacement, SnapshotTest,
                         ::testing::Combine(::testing::Values(1, 2, 3),
                                            ::testing::ValuesIn(kEveryPlacement)));

TEST_P(SnapshotTest, FiveStepsAResumeAndFiveStepsEqualTen) {
  const auto [count, placement] = GetParam();
  Training whole(count, placement, 1);
  whole.run(10);

  Training first(count, placement, 1);
  first.run(5);
  const Checkpoint middle = first.taken();
  first.run(1);  // the copy does not change with the run

  Training second(count, placement, 1);
  second.run(2);  // what was there before does not matter
  const RunState state = restore(middle, second.towers, second.step);
  EXPECT_EQ(state.step, 5);
  second.run(5);

  const Checkpoint expected = whole.taken();
  const Checkpoint found = second.taken();
  EXPECT_TRUE(same_tensors(found.model, expected.model));
  EXPECT_TRUE(same_tensors(found.average, expected.average));
  EXPECT_TRUE(same_tensors(found.optimizer, expected.optimizer));
  EXPECT_EQ(found.state, expected.state);
}

TEST(SnapshotTest, EveryFieldSurvives) {
  Training training(2, ParameterPlacement::shared, 1);
  const RunState state{.step = 7,
                       .position = {2, 33},
                       .samples = 99,
                       .best = 0.5,
                       .best_step = 6,
                       .stale_validations = 1,
                       .lowest_loss = 1.5,
                       .stalled_validations = 2,
                       .rate_factor = 0.25};
  const RunState back =
      restore(snapshot(training.towers, training.step, state, "c"), training.towers, training.step);
  EXPECT_EQ(training.step.count(), 7);
  EXPECT_EQ(back, state);
  EXPECT_EQ(training.step.rate_factor(), 0.25);
}

TEST(SnapshotTest, ACheckpointOfAnotherModelIsRefusedWithTheDifferences) {
  Training training(1, ParameterPlacement::shared, 1);
  auto others = make_towers(cpu_devices(1), [] { return Mlp(); });
  SyncStep step(others, Sgd{.momentum = 0.9});
  const Checkpoint before = snapshot(others, step, {}, "");
  try {
    restore(training.taken(), others, step);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("unknown to the model"), std::string::npos) << text;
    EXPECT_NE(text.find("momentum/"), std::string::npos) << text;
  }
  EXPECT_TRUE(same_tensors(snapshot(others, step, {}, "").model, before.model));
}

/// The same with LibTorch's optimizers in the step.
struct TorchTraining {
  explicit TorchTraining(const OptimizerOptions& kind)
      : towers(make_towers(cpu_devices(2), [] { return Noisy(); })),
        optimizer(std::visit(TorchOptimizer{towers.parameters()}, kind)),
        step(towers, *optimizer, kWithAverage) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step.run(testing::feeds_of(testing::vector_feed, {4, 3, 2}, 9 * step.count()), MeanSquare{});
    }
  }
  Checkpoint taken() { return snapshot(towers, step, {.step = step.count()}, "config"); }

  Towers<Noisy> towers;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  SyncStep<Noisy> step;
};

TEST(SnapshotTest, ATorchOptimizersRunResumesBitForBitFromAFile) {
  const testing::ScratchDirectory scratch;
  for (const auto& [name, kind] : testing::all_optimizers()) {
    SCOPED_TRACE(name);
    TorchTraining whole(kind);
    whole.run(6);

    TorchTraining first(kind);
    first.run(3);
    write_checkpoint(first.taken(), scratch / "middle.pt");

    TorchTraining second(kind);
    second.run(1);  // what was there before does not matter
    restore(read_checkpoint(scratch / "middle.pt"), second.towers, second.step);
    second.run(3);

    const Checkpoint expected = whole.taken();
    const Checkpoint found = second.taken();
    EXPECT_TRUE(same_tensors(found.model, expected.model));
    EXPECT_TRUE(same_tensors(found.average, expected.average));
  }
}

TEST(SnapshotTest, ACheckpointOfAnotherOptimizerIsRefusedAndNothingIsChanged) {
  const auto refusal = [](const Checkpoint& checkpoint, auto& training) {
    const Checkpoint before = training.taken();
    std::string text;
    try {
      restore(checkpoint, training.towers, training.step);
    } catch (const DataError& error) {
      text = error.what();
    }
    EXPECT_TRUE(same_tensors(training.taken().model, before.model));
    EXPECT_TRUE(same_tensors(training.taken().average, before.average));
    return text;
  };
  TorchTraining adam(Adam{.learning_rate = 0.01});
  TorchTraining sgd(Sgd{.learning_rate = 0.01, .momentum = 0.9});
  Training built_in(2, ParameterPlacement::shared, 1);
  adam.run(2);
  const Checkpoint of_adam = adam.taken();
  EXPECT_NE(refusal(of_adam, sgd).find("the saved state is of a torch::optim::Adam"),
            std::string::npos);
  EXPECT_NE(refusal(of_adam, built_in).find("a built-in one in this run"), std::string::npos);
  EXPECT_NE(refusal(built_in.taken(), sgd).find("mean/"), std::string::npos);

  Checkpoint without = of_adam;  // as files were before they held such a state
  without.torch_optimizer.reset();
  EXPECT_NE(refusal(without, adam).find("there is no saved state of a torch::optim::Adam"),
            std::string::npos);
}

}  // namespace snapshot_test
}  // namespace pagoda
