// Whatever throws in whichever stage: the caller learns where, nothing hangs, nothing has changed.

#include <pagoda/base/error.h>
#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/sim/sim_cards.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "support/late_tower.h"
#include "support/staged_models.h"
#include "support/training_bits.h"

namespace pagoda {
namespace pipeline_faults_test {

using testing::all_equal;
using testing::all_state;
using testing::BatchInput;
using testing::cpu_devices;
using testing::DeepNoisy;
using testing::feeds_of;
using testing::kSchedules;
using testing::Machine;
using testing::make_deep_mlp;
using testing::message_of;
using testing::OtherSimMachine;
using testing::StagedMeanSquare;
using testing::thrown_by;
using testing::vector_feed;

constexpr int kStages = 3;

/// Two towers of three stages, or one on cards.
class FaultyTraining {
 public:
  FaultyTraining(DeviceKind kind, PipelineSchedule schedule,
                 std::function<void(const TowerJob&)> on_phase = nullptr,
                 OutputPlace output = OutputPlace::last_stage)
      : machine_(kind == DeviceKind::cpu ? 2 * kStages : kStages, kind),
        towers_(make_staged_towers(machine_.devices(), [] { return DeepNoisy(); },
                                   {.stages = kStages, .output = output}, {.seed = 3})),
        step_(towers_, Adam{.learning_rate = 0.01}, {.on_phase = std::move(on_phase)},
              {.schedule = schedule}) {}

  void run_step() {
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(4 * towers_.size()), 3);
    step_.run(feeds_of(vector_feed, sizes, static_cast<int>(step_.count())), BatchInput(),
              StagedMeanSquare());
  }
  std::vector<at::Tensor> state() { return all_state(towers_, step_); }
  const Machine& machine() const { return machine_; }
  int towers() const { return towers_.size(); }

 private:
  Machine machine_;
  StagedTowers<DeepNoisy> towers_;
  PipelineStep<DeepNoisy> step_;
};

/// Throws once, at the `after`-th time that the stage enters the phase.
struct Fault {
  std::string phase;
  int tower;
  int stage;
  std::atomic<int> after;
  std::atomic<bool> armed = false;

  void operator()(const TowerJob& job) {
    if (!armed || job.phase != phase || job.tower != tower || job.stage != stage) return;
    if (--after == 0) throw std::out_of_range("injected");
  }
};

class PipelineFaultTest
    : public ::testing::TestWithParam<std::tuple<DeviceKind, PipelineSchedule, const char*>> {};

INSTANTIATE_TEST_SUITE_P(All, PipelineFaultTest,
                         ::testing::Combine(::testing::Values(DeviceKind::cpu, testing::kCardKind),
                                            ::testing::ValuesIn(kSchedules),
                                            ::testing::Values("feed", "forward", "backward")));

TEST_P(PipelineFaultTest, IsReportedAndTheStepCanBeRepeated) {
  const auto& [kind, schedule, phase] = GetParam();
  FaultyTraining undisturbed(kind, schedule);
  for (int i = 0; i < 2; ++i) undisturbed.run_step();
  const int stages = phase == std::string("feed") ? 1 : kStages;
  for (int tower = 0; tower < undisturbed.towers(); ++tower) {
    for (int stage = 0; stage < stages; ++stage) {
      SCOPED_TRACE("tower " + std::to_string(tower) + ", stage " + std::to_string(stage));
      Fault fault{.phase = phase, .tower = tower, .stage = stage, .after = 3};
      FaultyTraining training(kind, schedule, std::ref(fault));
      training.run_step();
      const auto before = training.state();
      fault.armed = true;
      const auto error = thrown_by<StageError>([&] { training.run_step(); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->tower(), tower);
      EXPECT_EQ(error->stage(), stage);
      EXPECT_EQ(error->micro_batch(), 2);
      EXPECT_EQ(error->step(), 1);
      const std::string device = training.machine().label(tower * kStages + stage);
      EXPECT_EQ(error->device(), device);
      EXPECT_EQ(error->what(), "tower " + std::to_string(tower) + " (" + device + "), stage " +
                                   std::to_string(stage) + ", " + phase +
                                   " of micro-batch 2, step 1: injected");
      EXPECT_THROW(std::rethrow_exception(error->cause()), std::out_of_range);
      EXPECT_TRUE(all_equal(training.state(), before));
      training.run_step();
      EXPECT_TRUE(all_equal(training.state(), undisturbed.state()));
    }
  }
}

TEST(PipelineFaultsTest, AFaultAnywhereWithAnOutputLayerOnEveryStage) {
  for (const auto schedule : kSchedules) {
    FaultyTraining undisturbed(DeviceKind::cpu, schedule, nullptr, OutputPlace::every_stage);
    undisturbed.run_step();
    for (const std::string phase : {"forward", "backward"}) {
      for (int stage = 0; stage < kStages; ++stage) {
        // 4 micro-batches of the stage's own, and one or two output layers.
        for (int after = 1; after <= (stage == 0 ? 6 : 5); ++after) {
          SCOPED_TRACE(phase + " " + std::to_string(after) + " of stage " + std::to_string(stage));
          Fault fault{.phase = phase, .tower = 1, .stage = stage, .after = after, .armed = true};
          FaultyTraining training(DeviceKind::cpu, schedule, std::ref(fault),
                                  OutputPlace::every_stage);
          const auto before = training.state();
          const auto error = thrown_by<StageError>([&] { training.run_step(); });
          ASSERT_TRUE(error);
          EXPECT_EQ(error->tower(), 1);
          EXPECT_EQ(error->stage(), stage);
          EXPECT_TRUE(all_equal(training.state(), before));
          training.run_step();
          EXPECT_TRUE(all_equal(training.state(), undisturbed.state()));
        }
      }
    }
  }
}

TEST(PipelineFaultsTest, AMistakeOfTheCallerStaysAUsageError) {
  auto towers = make_staged_towers(cpu_devices(2), make_deep_mlp, {.stages = 2});
  PipelineStep step(towers, Adam{});
  const std::string text = message_of<UsageError>([&] {
    step.run(feeds_of(vector_feed, {2, 2}, 0), BatchInput(),
             [](auto&, const Tensors& outputs, const Batch&) { return outputs[0]; });
  });
  EXPECT_NE(text.find("stage 1, forward of micro-batch 0"), std::string::npos) << text;
  EXPECT_NE(text.find("one number"), std::string::npos) << text;
}

TEST(PipelineFaultsTest, AModelThatThrowsInBackward) {
  struct Throwing : torch::autograd::Function<Throwing> {
    static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) {
      return x.clone();
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                   torch::autograd::variable_list) {
      throw std::runtime_error("from backward");
    }
  };
  auto towers = make_staged_towers(
      cpu_devices(3), make_deep_mlp, {.stages = 3}, {}, [](testing::DeepMlp& model) {
        auto layers = model->layers();
        layers[2].forward = [inner = layers[2].forward](const Tensors& x) -> Tensors {
          return {Throwing::apply(inner(x)[0])};
        };
        return layers;
      });
  PipelineStep step(towers, Adam{});
  const auto error = thrown_by<StageError>([&] {
    step.run(feeds_of(vector_feed, {2, 2, 2}, 0), BatchInput(), StagedMeanSquare());
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->stage(), 1);
  EXPECT_NE(std::string(error->what()).find("from backward"), std::string::npos);
}

TEST(PipelineFaultsTest, ALostCardIsNamed) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const OtherSimMachine machine(2, {.single_cards = {{1, {.fail_at_step = 1}}}});
  auto towers = make_staged_towers(machine.devices(), make_deep_mlp, {.stages = 2});
  PipelineStep step(towers, Adam{});
  const auto run = [&] {
    step.run(feeds_of(vector_feed, {2, 2}, 0), BatchInput(), StagedMeanSquare());
  };
  run();
  const auto error = thrown_by<TowerError>(run);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->device(), "sim:1");
  EXPECT_EQ(error->step(), 1);
}

TEST(PipelineFaultsTest, ACardThatIsLostForGoodEndsNothingButTheStep) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  // While a micro-batch is computed again, whose buffers are to be as if it had not been.
  for (const char* phase : {"forward", "backward"}) {
    SCOPED_TRACE(phase);
    const OtherSimMachine machine(
        2, {.single_cards = {{1, {.fail_at_step = 100, .stays_lost = true}}}});
    auto towers = make_staged_towers(machine.devices(), [] { return DeepNoisy(); }, {.stages = 2});
    std::atomic<bool> is_to_be_lost = false;
    PipelineStep step(towers, Adam{},
                      {.on_phase =
                           [&](const TowerJob& job) {
                             if (is_to_be_lost && job.stage == 1 && std::string(phase) == job.phase)
                               note_sim_card_step(1, 100);
                           }},
                      {.checkpoint_activations = true});
    const auto run = [&] {
      step.run(feeds_of(vector_feed, {2, 2}, 0), BatchInput(), StagedMeanSquare());
    };
    run();
    is_to_be_lost = true;
    const std::string text = message_of<Error>(run);
    EXPECT_NE(text.find("sim:1 was lost"), std::string::npos) << text;
    EXPECT_THROW(run(), Error);
  }
}

TEST(PipelineFaultsTest, ALateStageIsNamedAndDoesNotCrashWhenItComesBack) {
  for (const char* phase : {"forward", "backward"}) {
    SCOPED_TRACE(phase);
    std::promise<void> release;
    auto released = release.get_future().share();
    auto towers = make_staged_towers(cpu_devices(3), make_deep_mlp, {.stages = 3},
                                     {.timeout = testing::kShortTimeout});
    PipelineStep step(towers, Adam{}, {.on_phase = [=](const TowerJob& job) {
                        if (job.stage == 1 && job.phase == std::string(phase)) released.wait();
                      }});
    const auto run = [&] {
      step.run(feeds_of(vector_feed, {2, 2, 2}, 0), BatchInput(), StagedMeanSquare());
    };
    const std::string text = message_of<DeviceError>(run);
    EXPECT_NE(text.find("tower 0, stage 1 (cpu:1) was at work"), std::string::npos) << text;
    EXPECT_NE(message_of<DeviceError>(run), "") << "the group cannot be used any more";
    release.set_value();  // the stage goes on while everything around it is destroyed
  }
}

TEST(PipelineFaultsTest, AnEvaluationThatIsOverIsThereForTheLateStage) {
  const auto late = std::make_shared<testing::LateWork>();
  {
    auto towers = make_staged_towers(cpu_devices(2), make_deep_mlp, {.stages = 2},
                                     {.timeout = testing::kShortTimeout});
    const Batch all = vector_feed(0, 4);
    const TensorDataset data(all.input, all.target);
    EXPECT_THROW(
        evaluate(towers, batches(data, 1, {.batch_size = 2, .feeds_per_tower = 2}), BatchInput(),
                 [late, kept = testing::Kept(), calls = 0](
                     testing::DeepMlp& model, const Tensors& outputs, const Batch& batch) mutable {
                   if (++calls == 2) {
                     late->stay_away();
                     late->come_back(kept.alive() &&
                                     model->last->weight.isfinite().all().item<bool>());
                   }
                   return StagedMeanSquare()(model, outputs, batch);
                 }),
        DeviceError);
  }
  late->release();
  EXPECT_TRUE(late->all_was_there());
}

TEST(PipelineFaultsTest, ALossWithoutAGraphIsRefused) {
  for (const OutputPlace output : {OutputPlace::last_stage, OutputPlace::every_stage}) {
    for (const bool again : {false, true}) {
      auto towers =
          make_staged_towers(cpu_devices(2), make_deep_mlp, {.stages = 2, .output = output});
      PipelineStep step(towers, Adam{}, {}, {.checkpoint_activations = again});
      const std::string text = message_of<UsageError>([&] {
        step.run(feeds_of(vector_feed, {2, 2}, 0), BatchInput(),
                 [](testing::DeepMlp& model, const Tensors& outputs, const Batch& batch) {
                   return StagedMeanSquare()(model, outputs, batch).detach();
                 });
      });
      EXPECT_NE(text.find("would learn nothing"), std::string::npos) << text;
    }
  }
}

TEST(PipelineFaultsTest, ATowerPhaseThatFailsInAStageIsReported) {
  auto towers = make_staged_towers(cpu_devices(2), make_deep_mlp, {.stages = 2});
  PipelineStep step(towers, Adam{}, {.on_phase = [](const TowerJob& job) {
                      if (job.phase == std::string("collect")) throw std::out_of_range("injected");
                    }});
  const auto error = thrown_by<TowerError>([&] {
    step.run(feeds_of(vector_feed, {2, 2}, 0), BatchInput(), StagedMeanSquare());
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->phase(), "collect");
}

}  // namespace pipeline_faults_test
}  // namespace pagoda
