#include "pipeline/pipeline_run.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <ATen/DeviceAccelerator.h>
#include <gtest/gtest.h>

#include "support/machines.h"
#include "support/staged_models.h"
#include "tower/tower_context.h"

namespace pagoda {
namespace pipeline_run_test {

using testing::cpu_devices;
using testing::kSchedules;
using testing::first_cards;

/// Hands on one tensor of so many bytes, and keeps as much for backward.
struct WideImpl : torch::nn::Module {
  std::vector<Layer> layers() {
    const auto one = [](torch::nn::Linear linear) {
      return [linear](const at::Tensor& x) mutable { return linear(x).tanh().sin(); };
    };
    return {layer("a", tensors_of(*a), one(a)), layer("b", tensors_of(*b), one(b))};
  }
  torch::nn::Linear a = register_module("a", torch::nn::Linear(64, 64));
  torch::nn::Linear b = register_module("b", torch::nn::Linear(64, 64));
};
TORCH_MODULE(Wide);

struct Peaks {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Bytes that the two cards of a pipeline have in use at most.
Peaks card_peaks(int micro_batches, const PipelineOptions& options) {
  auto towers = make_staged_towers(first_cards(2), [] { return Wide(); }, {.stages = 2});
  PipelineStep step(towers, Sgd{}, {}, options);
  std::vector<Batch> feeds;
  for (int i = 0; i < micro_batches; ++i)
    feeds.push_back({.input = torch::ones({512, 64}), .target = torch::ones({512, 64})});
  for (int card = 0; card < 2; ++card)
    at::getDeviceAllocator(at::kPrivateUse1)->resetPeakStats(static_cast<at::DeviceIndex>(card));
  step.run(feeds, testing::BatchInput(), testing::StagedMeanSquare());
  return {towers.stages().memory(0, 0).peak, towers.stages().memory(0, 1).peak};
}

TEST(PipelineRunTest, OneForwardOneBackwardKeepsActivationsOfFewMicroBatches) {
  const PipelineOptions one{.schedule = PipelineSchedule::one_forward_one_backward};
  const PipelineOptions gpipe{.schedule = PipelineSchedule::gpipe};
  // Twice as many micro-batches: GPipe keeps twice as many activations, the other as many as
  // before.
  EXPECT_LT(card_peaks(16, one).last, card_peaks(8, one).last * 5 / 4);
  EXPECT_GT(card_peaks(16, gpipe).last, card_peaks(8, gpipe).last * 3 / 2);
}

TEST(PipelineRunTest, RecomputingKeepsOnlyTheInputs) {
  PipelineOptions options{.schedule = PipelineSchedule::gpipe};
  const Peaks kept = card_peaks(16, options);
  options.checkpoint_activations = true;
  const Peaks recomputed = card_peaks(16, options);
  EXPECT_LT(recomputed.last, kept.last * 2 / 3);
}

/// A run of two stages without a step around it.
class BareRun {
 public:
  explicit BareRun(std::function<Tensors(int)> inputs)
      : towers_(make_staged_towers(cpu_devices(2), testing::make_deep_mlp, {.stages = 2})),
        run_(towers_.stages().replica(0),
             PipelineWork{.micro_batches = 2,
                          .shares = {0.5, 0.5},
                          .inputs = std::move(inputs),
                          .score = [](int, int, const Tensors& x) -> Scored {
                            return {.loss = x[0].sum(), .metrics = {{"twice", 2 * x[0].sum()}}};
                          }},
             {}, RandomStreams(1)) {}

  void run_stages() {
    std::vector<std::thread> threads;
    for (int stage = 0; stage < 2; ++stage) {
      threads.emplace_back([this, stage] {
        TowerContext context(at::kCPU);
        run_.run_stage(stage);
      });
    }
    for (auto& thread : threads) thread.join();
  }
  PipelineRun& run() { return run_; }

 private:
  StagedTowers<testing::DeepMlp> towers_;
  PipelineRun run_;
};

TEST(PipelineRunTest, ScoresComeByMicroBatch) {
  BareRun bare([](int number) -> Tensors {
    return {torch::full({1, testing::kInputs}, number, torch::kDouble)};
  });
  bare.run_stages();
  EXPECT_TRUE(bare.run().late_stages().empty());
  const auto scores = bare.run().finish();
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NE(scores[0].loss, scores[1].loss);
  EXPECT_EQ(scores[1].metrics[0].first, "twice");
  EXPECT_DOUBLE_EQ(scores[1].metrics[0].second, 2 * scores[1].loss);
}

TEST(PipelineRunTest, AFailureStopsTheOthersAndIsKept) {
  BareRun bare([](int number) -> Tensors {
    if (number == 1) throw std::runtime_error("no more");
    return {torch::ones({1, testing::kInputs}, torch::kDouble)};
  });
  bare.run_stages();
  try {
    bare.run().finish();
    FAIL() << "nothing was thrown";
  } catch (const StageFailure& failure) {
    EXPECT_EQ(failure.stage, 0);
    EXPECT_EQ(failure.micro_batch, 1);
    EXPECT_EQ(failure.phase, std::string("feed"));
  }
}

TEST(PipelineRunTest, AStopEndsEveryWait) {
  BareRun bare([](int) -> Tensors { return {}; });
  bare.run().stop();
  EXPECT_EQ(bare.run().late_stages(), (std::vector<int>{0, 1}));
  TowerContext context(at::kCPU);
  bare.run().run_stage(1);
  EXPECT_EQ(bare.run().late_stages(), (std::vector<int>{0}));
}

}  // namespace pipeline_run_test
}  // namespace pagoda
