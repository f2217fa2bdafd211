// N towers of S stages equal one device: for every schedule, cut, machine and option.

#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/train/sync_step.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/staged_models.h"
#include "support/training_bits.h"

namespace pagoda {
namespace pipeline_golden_test {

using testing::all_equal;
using testing::all_state;
using testing::BatchInput;
using testing::copies;
using testing::copy_values;
using testing::DeepMlp;
using testing::DeepNoisy;
using testing::feeds_of;
using testing::kGoldenTolerance;
using testing::kSchedules;
using testing::largest_difference;
using testing::Machine;
using testing::make_deep_mlp;
using testing::PlainTraining;
using testing::schedule_name;
using testing::StagedMeanSquare;
using testing::vector_feed;
using testing::whole;

/// Devices, and how many of them are a tower.
struct Cut {
  Machine machine;
  int stages;

  int towers() const { return machine / stages; }
  std::string name() const {
    return std::to_string(towers()) + "x" + std::to_string(stages) + "_" + kind_name(machine.kind);
  }
};

std::vector<Cut> cuts() {
  std::vector<Cut> all;
  for (const auto& [devices, stages] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {4, 2}, {6, 2}})
    all.push_back({Machine(devices), stages});
  for (const auto& [devices, stages] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 3}, {4, 2}, {4, 4}})
    all.push_back({Machine(devices, testing::kCardKind), stages});
  return all;
}

void PrintTo(const Cut& cut, std::ostream* out) { *out << cut.name(); }

struct Case {
  std::string name;
  StepOptions step = {};
  PipelineOptions pipeline = {};
  std::function<std::vector<std::int64_t>(int towers)> feed_sizes = [](int towers) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(3 * towers), 2);
  };
  TowerOptions tower = {};
  OutputPlace output = OutputPlace::last_stage;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> cases() {
  const auto rising = [](int count) {
    std::vector<std::int64_t> sizes;
    for (int i = 1; i <= count; ++i) sizes.push_back(i);
    return sizes;
  };
  const StepOptions everything{
      .max_grad_norm = 0.2, .l2 = 0.3, .moving_average = MovingAverage{.decay = 0.9}};
  std::vector<Case> all;
  for (const auto schedule : kSchedules) {
    const std::string name = schedule_name(schedule);
    const PipelineOptions pipeline{.schedule = schedule};
    all.push_back({name, {}, pipeline});
    all.push_back({name + "_everything", everything, pipeline,
                   [rising](int towers) { return rising(2 * towers + 1); }});
    all.push_back(
        {name + "_recomputed", everything, {.schedule = schedule, .checkpoint_activations = true}});
    all.push_back(
        {name + "_one_feed", {}, pipeline, [](int) { return std::vector<std::int64_t>{5}; }});
    all.push_back({name + "_empty_feeds", {}, pipeline, [](int) {
                     return std::vector<std::int64_t>{0, 3, 0, 0, 5, 2, 0};
                   }});
    for (std::size_t same = all.size() - 5, end = all.size(); same < end; ++same) {
      all.push_back(all[same]);
      all.back().name += "_output_on_every_stage";
      all.back().output = OutputPlace::every_stage;
    }
  }
  all.push_back(
      {.name = "host", .step = everything, .tower = {.placement = ParameterPlacement::host}});
  return all;
}

class PipelineGoldenTest : public ::testing::TestWithParam<std::tuple<Case, Cut>> {};

TEST_P(PipelineGoldenTest, EqualsOneDevice) {
  const auto& [one, cut] = GetParam();
  for (const OptimizerOptions& optimizer : std::vector<OptimizerOptions>{
           Sgd{.learning_rate = 0.1, .momentum = 0.5}, Adam{.learning_rate = 0.02}}) {
    auto towers = make_staged_towers(cut.machine.devices(), make_deep_mlp,
                                     {.stages = cut.stages, .output = one.output}, one.tower);
    DeepMlp plain_model = make_deep_mlp();
    copy_values(towers, *plain_model);
    const auto initial = copies(towers.master().trainable);
    PipelineStep step(towers, optimizer, one.step, one.pipeline);
    PlainTraining plain(plain_model, optimizer, one.step);
    for (int i = 0; i < 4; ++i) {
      const auto feeds = feeds_of(vector_feed, one.feed_sizes(cut.towers()), i);
      const StepResult result = step.run(feeds, BatchInput(), StagedMeanSquare());
      EXPECT_NEAR(result.loss, plain.step(whole(feeds)), kGoldenTolerance);
    }
    EXPECT_LT(largest_difference(copies(towers.master().trainable), plain.parameters()),
              kGoldenTolerance);
    EXPECT_LT(largest_difference(step.updater().averages(), plain.averages()), kGoldenTolerance);
    EXPECT_GT(largest_difference(copies(towers.master().trainable), initial), 1e-3);
    for (int tower = 0; tower < towers.size(); ++tower) {
      EXPECT_TRUE(
          all_equal(copies(towers.table(tower).trainable), copies(towers.master().trainable)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PipelineGoldenTest,
                         ::testing::Combine(::testing::ValuesIn(cases()),
                                            ::testing::ValuesIn(cuts())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" +
                                  std::get<1>(info.param).name();
                         });

/// Everything that a few steps of a noisy model leave behind.
std::vector<at::Tensor> noisy_bits(const std::vector<Device>& devices, const StageOptions& stages,
                                   const PipelineOptions& pipeline) {
  auto towers = make_staged_towers(devices, [] { return DeepNoisy(); }, stages, {.seed = 5});
  PipelineStep step(towers, Adam{.learning_rate = 0.01}, {.max_grad_norm = 0.5}, pipeline);
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(4 * towers.size()), 3);
  std::vector<double> losses;
  for (int i = 0; i < 3; ++i) {
    losses.push_back(
        step.run(feeds_of(vector_feed, sizes, i), BatchInput(), StagedMeanSquare()).loss);
  }
  auto bits = all_state(towers, step);
  bits.push_back(torch::tensor(losses, torch::kDouble));
  return bits;
}

TEST(PipelineBitsTest, NeitherCutNorScheduleNorRecomputingChangesABit) {
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
    for (const int towers : {1, 2}) {
      const auto devices = [&](int count) { return Machine(count, kind).devices(); };
      const auto expected =
          noisy_bits(devices(towers), {.stages = 1}, {.schedule = PipelineSchedule::gpipe});
      for (const auto& layers : std::vector<std::vector<int>>{{1, 2}, {2, 1}, {1, 1, 1}}) {
        const int stages = static_cast<int>(layers.size());
        if (kind == testing::kCardKind && towers * stages > testing::kSimCards) continue;
        for (const auto schedule : kSchedules) {
          for (const bool recompute : {false, true}) {
            SCOPED_TRACE(std::to_string(stages) + schedule_name(schedule) +
                         (recompute ? " recomputed" : "") + " on " + kind_name(kind));
            const StageOptions cut{.stages = stages, .layers_per_stage = layers};
            const PipelineOptions options{.schedule = schedule,
                                          .checkpoint_activations = recompute};
            EXPECT_TRUE(all_equal(noisy_bits(devices(towers * stages), cut, options), expected));
          }
        }
      }
    }
  }
}

TEST(PipelineBitsTest, AnOutputLayerOnEveryStageHasTheSameRandomNumbers) {
  const StageOptions last{.stages = 2, .layers_per_stage = {2, 1}};
  StageOptions every = last;
  every.output = OutputPlace::every_stage;
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
    const auto devices = Machine(4, kind).devices();
    const auto expected = noisy_bits(devices, every, {});
    const at::Tensor losses = noisy_bits(devices, last, {}).back();
    EXPECT_TRUE(at::allclose(expected.back(), losses, 1e-5)) << expected.back() << losses;
    for (const auto schedule : kSchedules) {
      for (const bool recompute : {false, true}) {
        const PipelineOptions options{.schedule = schedule, .checkpoint_activations = recompute};
        EXPECT_TRUE(all_equal(noisy_bits(devices, every, options), expected));
      }
    }
  }
}

TEST(PipelineBitsTest, RunningStatisticsAreThoseOfTowersWithoutStages) {
  const auto make = [] { return DeepNoisy(0.0); };
  auto staged = make_staged_towers(Machine(4).devices(), make, {.stages = 2}, {.seed = 5});
  auto plain = make_towers(Machine(2).devices(), make, {.seed = 5});
  PipelineStep staged_step(staged, Adam{.learning_rate = 0.01});
  SyncStep plain_step(plain, Adam{.learning_rate = 0.01});
  for (int i = 0; i < 3; ++i) {
    const auto feeds = feeds_of(vector_feed, {3, 3, 3, 3, 2}, i);
    staged_step.run(feeds, BatchInput(), StagedMeanSquare());
    plain_step.run(feeds, testing::MeanSquare());
  }
  EXPECT_TRUE(all_equal(all_state(staged, staged_step), all_state(plain, plain_step)));
}

TEST(PipelineRulesTest, ParameterRulesAreThoseOfTowersWithoutStages) {
  for (const char* frozen : {"first.*", "third.*", "last.*"}) {
    const StepOptions options{.max_grad_norm = 0.5,
                              .parameter_rules = {{.names = "second.*", .rate_factor = 3},
                                                  {.names = "*.bias", .l2 = 0.2},
                                                  {.names = frozen, .frozen = true}}};
    auto plain = make_towers(testing::cpu_devices(1), make_deep_mlp);
    SyncStep expected(plain, Adam{.learning_rate = 0.02}, options);
    for (int i = 0; i < 3; ++i)
      expected.run(feeds_of(vector_feed, {2, 3, 2, 1}, i), testing::MeanSquare());
    for (const OutputPlace output : {OutputPlace::last_stage, OutputPlace::every_stage}) {
      for (const bool again : {false, true}) {
        SCOPED_TRACE(std::string(frozen) + (again ? " computed again" : ""));
        auto towers = make_staged_towers(testing::cpu_devices(4), make_deep_mlp,
                                         {.stages = 2, .output = output});
        PipelineStep step(towers, Adam{.learning_rate = 0.02}, options,
                          {.checkpoint_activations = again});
        for (int i = 0; i < 3; ++i)
          step.run(feeds_of(vector_feed, {2, 3, 2, 1}, i), BatchInput(), StagedMeanSquare());
        EXPECT_LT(
            largest_difference(copies(towers.master().trainable), copies(plain.master().trainable)),
            kGoldenTolerance);
      }
    }
  }
}

TEST(PipelineEvaluateTest, EqualsEvaluationOfTheWholeModel) {
  const auto data = [](int towers) {
    const Batch all = vector_feed(0, 23);
    static const TensorDataset samples(all.input, all.target);
    return batches(samples, towers, {.batch_size = 4, .feeds_per_tower = 3, .shuffle = false});
  };
  auto plain = make_towers(Machine(1).devices(), make_deep_mlp);
  const Evaluation expected = evaluate(plain, data(1), testing::MeanSquare());
  EXPECT_EQ(expected.weight, 23);
  for (const Cut& cut : cuts()) {
    for (const auto output : {OutputPlace::last_stage, OutputPlace::every_stage}) {
      auto towers = make_staged_towers(cut.machine.devices(), make_deep_mlp,
                                       {.stages = cut.stages, .output = output});
      const Evaluation found =
          evaluate(towers, data(towers.size()), BatchInput(), StagedMeanSquare());
      EXPECT_NEAR(found.loss, expected.loss, kGoldenTolerance) << cut.name();
      EXPECT_EQ(found.weight, 23);
      EXPECT_TRUE(towers.model(0)->is_training());
    }
  }
}

}  // namespace pipeline_golden_test
}  // namespace pagoda
