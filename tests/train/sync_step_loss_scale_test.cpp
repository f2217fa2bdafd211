// The loss scale of fp16. Models in double show what the scale alone does: nothing, to the last bit.

#include <pagoda/base/error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/scratch_directory.h"
#include "support/training_bits.h"
#include "world/ranks.h"

namespace pagoda {
namespace sync_step_loss_scale_test {

using testing::all_equal;
using testing::all_state;
using testing::copies;
using testing::cpu_devices;
using testing::feeds_of;
using testing::in_double;
using testing::MeanSquare;
using testing::Mlp;
using testing::Noisy;
using testing::PlacedMachine;
using testing::ScratchDirectory;
using testing::vector_feed;
using testing::word_feed;
using testing::Words;

/// A finite loss whose gradient is not, where `overflows` says so.
struct Overflowing {
  template <class Model>
  at::Tensor operator()(Model& model, const Batch& batch) const {
    const at::Tensor loss = MeanSquare()(model, batch);
    return overflows(batch) ? loss + (loss - loss.detach()).sqrt() : loss;
  }
  std::function<bool(const Batch&)> overflows = [](const Batch&) { return true; };
};

const StepOptions kEverything{.max_tower_grad_norm = 1,
                              .max_grad_norm = 0.05,
                              .l2 = 0.1,
                              .moving_average = MovingAverage{.decay = 0.9}};

class PlacedLossScaleTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  template <class MakeModel>
  auto towers(MakeModel make, Precision precision) const {
    return make_towers(GetParam().machine.devices(), make,
                       {.seed = 3, .placement = GetParam().placement, .precision = precision});
  }

  /// Expects that a scale of 65,536 changes no bit of a model in double.
  template <class MakeModel>
  void expect_same_bits(MakeModel make, const StepOptions& options, testing::MakeFeed feed) const {
    auto plain = towers(make, Precision::fp32);
    auto scaled = towers(make, Precision::fp16);
    SyncStep plain_step(plain, Adam{.learning_rate = 0.02}, options);
    SyncStep scaled_step(scaled, Adam{.learning_rate = 0.02}, options);
    const std::vector<std::int64_t> sizes{3, 1, 4, 1, 5};
    for (int i = 0; i < 3; ++i) {
      const StepResult expected = plain_step.run(feeds_of(feed, sizes, i), MeanSquare());
      const StepResult found = scaled_step.run(feeds_of(feed, sizes, i), MeanSquare());
      EXPECT_EQ(found.loss, expected.loss);
      EXPECT_EQ(found.loss_scale, 65536);
      EXPECT_FALSE(expected.loss_scale.has_value());
      if (expected.grad_norm) {
        EXPECT_EQ(found.grad_norm, expected.grad_norm);
      }
    }
    EXPECT_TRUE(all_equal(all_state(scaled, scaled_step), all_state(plain, plain_step)));
  }
};

INSTANTIATE_TEST_SUITE_P(Machines, PlacedLossScaleTest,
                         ::testing::ValuesIn(testing::few_placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(PlacedLossScaleTest, TheLossScaleChangesNoBitWithoutAndWithEveryOption) {
  const auto make = [] { return in_double(Mlp()); };
  expect_same_bits(make, {}, vector_feed);
  expect_same_bits(make, kEverything, vector_feed);
}

TEST_P(PlacedLossScaleTest, TheLossScaleChangesNoBitOfRowGradients) {
  const auto make = [] { return in_double(Words(true)); };
  expect_same_bits(make, {.max_grad_norm = 0.1, .rows = RowUpdate::lazy}, word_feed);
}

TEST_P(PlacedLossScaleTest, AnOverflowOnAnyTowerAtAnyStepLeavesTheStepOutEverywhere) {
  const auto sizes = std::vector<std::int64_t>(static_cast<std::size_t>(GetParam().machine), 3);
  for (const StepOptions& options : {StepOptions(), kEverything}) {
    for (int bad_tower = 0; bad_tower < GetParam().machine; ++bad_tower) {
      auto group = towers([] { return Noisy(); }, Precision::fp16);
      SyncStep step(group, Adam{.learning_rate = 0.01}, options);
      const int bad_step = bad_tower;
      for (int i = 0; i < 3; ++i) {
        const auto feeds = feeds_of(vector_feed, sizes, i);
        const auto bad = feeds[static_cast<std::size_t>(bad_tower)].samples;
        const auto before = all_state(group, step);
        const StepResult result = step.run(feeds, Overflowing{[&](const Batch& batch) {
                                             return i == bad_step && batch.samples == bad;
                                           }});
        EXPECT_EQ(result.skipped, i == bad_step);
        EXPECT_EQ(result.overflows, i == bad_step ? 1 : 0);
        EXPECT_EQ(result.loss_scale, i > bad_step ? 32768 : 65536);
        EXPECT_EQ(all_equal(all_state(group, step), before), i == bad_step);
      }
      EXPECT_EQ(step.loss_scale(),
                (LossScaleState{.scale = 32768, .good_steps = 2 - bad_step, .overflows = 1}));
      EXPECT_EQ(step.count(), 3);
    }
  }
}

TEST(LossScaleTest, AGradientThatIsNotFiniteAtTheLeastScaleIsAnError) {
  const auto feeds = feeds_of(vector_feed, {3, 3}, 0);
  for (const bool stops : {true, false}) {
    auto towers = make_towers(cpu_devices(2), [] { return Mlp(); }, {.precision = Precision::fp16});
    SyncStep step(towers, Adam{},
                  {.on_non_finite = stops ? NonFinite::stop : NonFinite::skip,
                   .loss_scale = {.initial = 4, .least = 2}});
    const auto loss = [](Mlp& model, const Batch& batch) {
      const at::Tensor loss = model->forward(batch.input.to(at::kFloat)).square().mean();
      return loss + (loss - loss.detach()).sqrt();
    };
    EXPECT_EQ(step.run(feeds, loss).overflows, 1);
    if (stops) {
      EXPECT_THROW(step.run(feeds, loss), DataError);
    } else {
      const StepResult result = step.run(feeds, loss);
      EXPECT_TRUE(result.skipped);
      EXPECT_EQ(result.overflows, 0);
    }
    EXPECT_EQ(step.loss_scale().scale, 2);
  }
}

TEST(LossScaleTest, ALossThatIsNotFiniteIsNoOverflow) {
  auto towers = make_towers(cpu_devices(2), [] { return Mlp(); }, {.precision = Precision::fp16});
  SyncStep step(towers, Adam{});
  EXPECT_THROW(step.run(feeds_of(vector_feed, {3, 3}, 0),
                        [](Mlp& model, const Batch& batch) {
                          return model->forward(batch.input.to(at::kFloat)).square().mean() / 0.0;
                        }),
               DataError);
  EXPECT_EQ(step.loss_scale().scale, 65536);
}

TEST(LossScaleTest, AScaleThatIsTooLargeFallsUntilTheGradientFits) {
  auto towers = make_towers(cpu_devices(2), [] { return Mlp(); }, {.precision = Precision::fp16});
  SyncStep step(towers, Adam{}, {.loss_scale = {.initial = 1 << 26}});
  int skipped = 0;
  StepResult result;
  do {
    result = step.run(feeds_of(vector_feed, {3, 3}, 0), [](Mlp& model, const Batch& batch) {
      return model->forward(batch.input.to(at::kFloat)).square().mean();
    });
    skipped += result.skipped;
  } while (result.skipped && skipped < 26);
  EXPECT_FALSE(result.skipped);
  EXPECT_GE(skipped, 5);
  EXPECT_EQ(step.loss_scale().overflows, skipped);
}

TEST(LossScaleTest, HooksSeeGradientsWithoutTheScaleAndNoneThatOverflowed) {
  const auto seen_in = [](Precision precision, bool overflows) {
    std::vector<at::Tensor> seen;
    auto towers = make_towers(cpu_devices(2), [] { return in_double(Mlp()); },
                              {.seed = 3, .precision = precision});
    SyncStep step(towers, Sgd{}, {.on_gradient = [&](const std::string&, at::Tensor& g) {
                    seen.push_back(g.clone());
                  }});
    step.run(feeds_of(vector_feed, {3, 2}, 0),
             Overflowing{[=](const Batch&) { return overflows; }});
    return seen;
  };
  EXPECT_TRUE(all_equal(seen_in(Precision::fp16, false), seen_in(Precision::fp32, false)));
  EXPECT_TRUE(seen_in(Precision::fp16, true).empty());
}

TEST(LossScaleTest, ATorchOptimizerSeesNothingOfTheScale) {
  const auto trained = [](Precision precision) {
    auto towers = make_towers(cpu_devices(3), [] { return in_double(Mlp()); },
                              {.seed = 3, .precision = precision});
    torch::optim::Adam adam(towers.parameters());
    SyncStep step(towers, adam);
    for (int i = 0; i < 3; ++i) step.run(feeds_of(vector_feed, {3, 1, 2}, i), MeanSquare());
    return copies(towers.master().trainable);
  };
  EXPECT_TRUE(all_equal(trained(Precision::fp16), trained(Precision::fp32)));
}

TEST(LossScaleTest, AResumedRunHasTheSameBitsAndTheSameScale) {
  const ScratchDirectory scratch;
  struct Training {
    Towers<Noisy> towers = make_towers(cpu_devices(2), [] { return Noisy(); },
                                       {.seed = 1, .precision = Precision::fp16});
    SyncStep<Noisy> step{
        towers, Adam{.learning_rate = 0.01}, {.loss_scale = {.initial = 1024, .growth_steps = 3}}};

    Checkpoint run(int steps) {
      for (int i = 0; i < steps; ++i) {
        const auto bad = [n = step.count()](const Batch&) { return n == 2 || n == 8; };
        step.run(feeds_of(vector_feed, {4, 3, 2}, static_cast<int>(9 * step.count())),
                 Overflowing{bad});
      }
      return snapshot(towers, step, {.step = step.count()}, "");
    }
  };
  const Checkpoint whole = Training().run(12);
  write_checkpoint(Training().run(5), scratch / "middle.pt");
  Training second;
  second.run(1);
  restore(read_checkpoint(scratch / "middle.pt"), second.towers, second.step);
  const Checkpoint resumed = second.run(7);
  EXPECT_EQ(resumed.state, whole.state);
  EXPECT_EQ(whole.state.loss_scale,
            (LossScaleState{.scale = 1024, .good_steps = 0, .overflows = 2}));
  EXPECT_EQ(checkpoint_bytes(resumed), checkpoint_bytes(whole));
}

TEST(LossScaleTest, ACheckpointOfFp32HasNoScaleAndLeavesAScaleAlone) {
  auto plain = make_towers(cpu_devices(1), [] { return Mlp(); });
  SyncStep plain_step(plain, Sgd{});
  const Checkpoint checkpoint = snapshot(plain, plain_step, {}, "");
  EXPECT_EQ(checkpoint.state.loss_scale, LossScaleState());
  EXPECT_EQ(checkpoint_bytes(checkpoint).find("loss_scale"), std::string::npos);
  auto scaled = make_towers(cpu_devices(1), [] { return Mlp(); }, {.precision = Precision::fp16});
  SyncStep scaled_step(scaled, Sgd{}, {.loss_scale = {.initial = 8}});
  restore(checkpoint, scaled, scaled_step);
  EXPECT_EQ(scaled_step.loss_scale().scale, 8);
}

TEST(LossScaleTest, AnOverflowOfOneProcessLeavesTheStepOutInAll) {
  for (const ParameterPlacement placement :
       {ParameterPlacement::shared, ParameterPlacement::spread}) {
    for (int bad_rank = 0; bad_rank < 3; ++bad_rank) {
      on_ranks(3, [&](World& world) {
        auto towers =
            make_towers(cpu_devices(2), [] { return in_double(Mlp()); },
                        {.seed = 3, .placement = placement, .precision = Precision::fp16});
        StepOptions options;
        options.world = {&world, [](World*) {}};
        if (bad_rank == 1) options.max_tower_grad_norm = 10;  // found before all have agreed
        SyncStep step(towers, Adam{}, options);
        for (int i = 0; i < 4; ++i) {
          const auto before = all_state(towers, step);
          const StepResult result = step.run(
              feeds_of(vector_feed, {2, 3}, 7 * i + world.rank()),
              Overflowing{[&](const Batch&) { return i == 2 && world.rank() == bad_rank; }});
          EXPECT_EQ(result.overflows, i == 2 ? 1 : 0);
          EXPECT_EQ(all_equal(all_state(towers, step), before), i == 2);
        }
        EXPECT_EQ(step.loss_scale(),
                  (LossScaleState{.scale = 32768, .good_steps = 1, .overflows = 1}));
      });
    }
  }
}

/// What two processes come to with and without a scale must be the same.
template <class MakeModel>
void expect_same_bits_of_two_processes(MakeModel make, testing::MakeFeed feed) {
  on_ranks(2, [&](World& world) {
    std::vector<std::vector<at::Tensor>> ends;
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      auto towers = make_towers(cpu_devices(2), make, {.seed = 3, .precision = precision});
      StepOptions options{.max_grad_norm = 0.1};
      options.world = {&world, [](World*) {}};
      SyncStep step(towers, Adam{}, options);
      for (int i = 0; i < 4; ++i)  // from the second step on dense gradients leave early
        step.run(feeds_of(feed, {2, 3}, 7 * i + world.rank()), MeanSquare());
      ends.push_back(all_state(towers, step));
    }
    EXPECT_TRUE(all_equal(ends[0], ends[1]));
  });
}

TEST(LossScaleTest, TheLossScaleChangesNoBitOfSeveralProcesses) {
  expect_same_bits_of_two_processes([] { return in_double(Mlp()); }, vector_feed);
  expect_same_bits_of_two_processes([] { return in_double(Words(true)); }, word_feed);
}

TEST(LossScaleTest, AnAsynchronousTowerDoesWhatASynchronousOneDoes) {
  for (const StepOptions& options : {StepOptions(), kEverything}) {
    const TowerOptions fp16{
        .seed = 7, .placement = ParameterPlacement::host, .precision = Precision::fp16};
    auto towers = make_towers(
        cpu_devices(1), [] { return Noisy(); }, fp16);
    auto same = make_towers(
        cpu_devices(1), [] { return Noisy(); }, fp16);
    SyncStep sync(towers, Adam{}, options);
    AsyncStep async(same, Adam{}, options);
    for (int i = 0; i < 4; ++i) {
      const Overflowing loss{[i](const Batch&) { return i == 1; }};
      const StepResult expected = sync.run(feeds_of(vector_feed, {3, 2}, i), loss);
      const StepResult found = async.run(feeds_of(vector_feed, {3, 2}, i), loss);
      EXPECT_EQ(found.overflows, expected.overflows);
      EXPECT_EQ(found.skipped, expected.skipped);
    }
    async.finish();
    EXPECT_EQ(async.loss_scale(), sync.loss_scale());
    EXPECT_TRUE(all_equal(all_state(same, async), all_state(towers, sync)));
  }
}

TEST(LossScaleTest, AsynchronousTowersCountTheirOverflowsAndGoOn) {
  const TowerOptions fp16{.placement = ParameterPlacement::host, .precision = Precision::fp16};
  auto towers = make_towers(
      cpu_devices(3), [] { return Noisy(); }, fp16);
  AsyncStep step(towers, Adam{}, {}, {.max_staleness = 2});
  for (int i = 0; i < 8; ++i) {
    const auto feeds = feeds_of(vector_feed, {3, 2, 3}, i);
    step.run(feeds, Overflowing{[i, bad = feeds[1].samples](const Batch& batch) {
               return i % 4 == 1 && batch.samples == bad;
             }});
  }
  step.finish();
  EXPECT_GE(step.loss_scale().overflows, 2);  // an update may take others' gradients with it
  EXPECT_LE(*step.loss_scale().scale, 32768);
  for (const at::Tensor& one : copies(towers.master().trainable))
    EXPECT_TRUE(one.isfinite().all().item<bool>());
}

}  // namespace sync_step_loss_scale_test
}  // namespace pagoda
