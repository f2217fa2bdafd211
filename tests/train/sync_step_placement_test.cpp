// What only the placement of the parameters changes: memory, and where a checkpoint can go on.

#include <pagoda/base/error.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/late_tower.h"
#include "support/training_bits.h"
#include "tower/parameter_copies.h"

namespace pagoda {
namespace sync_step_placement_test {

using testing::all_equal;
using testing::Machine;
using testing::NoisyTraining;
using testing::placed_machines;
using testing::PlacedMachine;

class PlacementTest : public ::testing::TestWithParam<PlacedMachine> {};
INSTANTIATE_TEST_SUITE_P(Towers, PlacementTest, ::testing::ValuesIn(placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

constexpr std::int64_t kWidth = 300;
constexpr std::int64_t kLayers = 4;
constexpr std::int64_t kParameterBytes = kLayers * (kWidth + 1) * kWidth * sizeof(float);
constexpr std::int64_t kBlockBytes = 64 * 1024;  // shares are cut between blocks

std::vector<std::int64_t> memory_of(const TowerGroup& towers) {
  std::vector<std::int64_t> bytes;
  for (int tower = 0; tower < towers.size(); ++tower)
    bytes.push_back(towers.memory().use(tower).in_use);
  return bytes;
}

/// Two tensors of state and the average for each parameter.
TEST_P(PlacementTest, StateIsWhereThePlacementSays) {
  const auto [machine, placement] = GetParam();
  auto towers = make_towers(machine.devices(),
                            [] {
                              torch::nn::Sequential layers;
                              for (int i = 0; i < kLayers; ++i)
                                layers->push_back(torch::nn::Linear(kWidth, kWidth));
                              return layers;
                            },
                            {.placement = placement});
  const auto parameters = memory_of(towers);
  // Clipped or not, cards sum their gradients themselves.
  SyncStep step(towers, Adam{}, {.max_tower_grad_norm = 1, .moving_average = MovingAverage{}});
  const auto with_state = memory_of(towers);

  std::int64_t sum = 0;
  for (std::size_t tower = 0; tower < parameters.size(); ++tower) {
    const bool has_copy = placement != ParameterPlacement::shared || tower == 0;
    EXPECT_NEAR(parameters[tower], has_copy ? kParameterBytes : 0, 0.01 * kParameterBytes);
    const std::int64_t state = with_state[tower] - parameters[tower];
    sum += state;
    if (placement == ParameterPlacement::mirrored) {
      EXPECT_NEAR(state, 3 * kParameterBytes, 0.01 * kParameterBytes);
    } else if (placement == ParameterPlacement::spread) {
      EXPECT_NEAR(state, 3 * kParameterBytes / machine.towers, 3 * kBlockBytes);
    } else {
      EXPECT_EQ(state, 0) << "it is the host's";
    }
  }
  if (placement == ParameterPlacement::spread) {
    EXPECT_NEAR(sum, 3 * kParameterBytes, 0.01 * kParameterBytes) << "every element once";
  }

  if (machine.kind != testing::kCardKind) return;  // gradients stay with CPU towers
  for (int i = 0; i < 2; ++i) {
    step.run(std::vector<Batch>(static_cast<std::size_t>(machine.towers),
                                {.input = torch::ones({1, kWidth}), .target = {}}),
             [](torch::nn::Sequential& layers, const Batch& batch) {
               return layers->forward(batch.input).square().mean();
             });
  }
  // Gradients that cards have summed among themselves stay there until the next backward.
  const bool summed = machine.towers > 1 && towers.replicas()->copies().towers_update();
  for (std::size_t tower = 0; tower < with_state.size(); ++tower) {
    EXPECT_EQ(memory_of(towers)[tower] - with_state[tower], summed ? kParameterBytes : 0);
  }
}

TEST_P(PlacementTest, TwoRunsAreEqual) {
  const auto [machine, placement] = GetParam();
  const auto bits = NoisyTraining(machine, 7, nullptr, placement).run_steps(10);
  EXPECT_TRUE(all_equal(NoisyTraining(machine, 7, nullptr, placement).run_steps(10), bits));
}

/// The kind of device, and the placement before and after the stop.
using Move = std::tuple<DeviceKind, ParameterPlacement, ParameterPlacement>;

std::vector<Move> moves() {
  std::vector<Move> all;
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
    for (const ParameterPlacement from : kEveryPlacement) {
      for (const ParameterPlacement to : kEveryPlacement) {
        const bool shared = from == ParameterPlacement::shared || to == ParameterPlacement::shared;
        if (kind == DeviceKind::cpu || !shared) all.emplace_back(kind, from, to);
      }
    }
  }
  return all;
}

class PlacementResumeTest : public ::testing::TestWithParam<Move> {};
INSTANTIATE_TEST_SUITE_P(FromTo, PlacementResumeTest, ::testing::ValuesIn(moves()));

TEST_P(PlacementResumeTest, ACheckpointGoesOnInAnotherPlacement) {
  const auto [kind, from, to] = GetParam();
  const Machine machine(3, kind);
  const auto taken = [](NoisyTraining& training) {
    return snapshot(training.towers(), training.step(), {.step = training.step().count()}, "");
  };
  NoisyTraining whole(machine, 7, nullptr, from);
  whole.run_steps(8);

  NoisyTraining first(machine, 7, nullptr, from);
  first.run_steps(4);
  NoisyTraining second(machine, 7, nullptr, to);
  second.run_steps(1);
  restore(taken(first), second.towers(), second.step());
  second.run_steps(4);

  const Checkpoint expected = taken(whole);
  const Checkpoint found = taken(second);
  const auto largest = [](const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
    return testing::largest_difference(testing::copies(a), testing::copies(b));
  };
  // On CPU towers all placements compute the same bits; on cards `host` rounds as the host does.
  const double tolerance = kind == DeviceKind::cpu ? 0 : 1e-5;
  EXPECT_LE(largest(found.model, expected.model), tolerance);
  EXPECT_LE(largest(found.average, expected.average), tolerance);
  EXPECT_LE(largest(found.optimizer, expected.optimizer), tolerance);
}

TEST(PlacementTest, ACardThatFailsIsTheOneThatIsReportedAndTheStepCanBeRepeated) {
  using testing::feeds_of;
  using testing::vector_feed;
  for (const ParameterPlacement placement :
       {ParameterPlacement::mirrored, ParameterPlacement::spread}) {
    for (const std::string phase : {"feed", "forward", "backward", "collect", "combine"}) {
      for (int bad = 0; bad < 3; ++bad) {
        SCOPED_TRACE(phase + " on tower " + std::to_string(bad));
        std::atomic<bool> armed = true;
        auto towers = make_towers(Machine(3, testing::kCardKind).devices(),
                                  [] { return testing::Mlp(); }, {.placement = placement});
        SyncStep step(towers, Adam{},
                      {.measure_grad_norm = true, .on_phase = [&](const TowerJob& job) {
                         if (job.tower == bad && job.phase == phase && armed.exchange(false))
                           throw std::runtime_error("broken");
                       }});
        const auto run = [&] {
          return step.run(feeds_of(vector_feed, {2, 2, 2}, 0), [](auto& model, const Batch& batch) {
            return model->forward(batch.input.to(torch::kFloat)).square().mean();
          });
        };
        const auto error = testing::thrown_by<TowerError>(run);
        ASSERT_TRUE(error);
        EXPECT_EQ(error->tower(), bad);
        EXPECT_EQ(error->phase(), phase);
        EXPECT_EQ(run().step, 0);
      }
    }
  }
}

TEST(PlacementTest, CardsThatWaitForALateOneAreLetGo) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  {
    auto towers =
        make_towers(Machine(2, testing::kCardKind).devices(), [] { return testing::Mlp(); },
                    {.placement = ParameterPlacement::mirrored, .timeout = testing::kShortTimeout});
    SyncStep step(towers, Adam{}, {.on_phase = [released](const TowerJob& job) {
                    if (job.tower == 1 && job.phase == std::string("forward")) released.wait();
                  }});
    const auto run = [&] {
      step.run(testing::feeds_of(testing::vector_feed, {2, 2}, 0),
               [](auto& model, const Batch& batch) {
                 return model->forward(batch.input.to(torch::kFloat)).square().mean();
               });
    };
    const std::string text = testing::message_of<DeviceError>(run);
    EXPECT_NE(text.find("tower 1"), std::string::npos) << text;
    release.set_value();  // it goes on while everything around it is destroyed
  }
}

TEST(PlacementTest, AnOptimizerOfTheUsersNeedsOneCopy) {
  for (const ParameterPlacement placement :
       {ParameterPlacement::mirrored, ParameterPlacement::spread}) {
    auto towers =
        make_towers(Machine(2).devices(), [] { return testing::Mlp(); }, {.placement = placement});
    torch::optim::SGD optimizer(towers.parameters(), 0.1);
    const std::string text = testing::message_of<UsageError>([&] { SyncStep(towers, optimizer); });
    EXPECT_NE(text.find("shared or host"), std::string::npos) << text;
  }
}

}  // namespace sync_step_placement_test
}  // namespace pagoda
