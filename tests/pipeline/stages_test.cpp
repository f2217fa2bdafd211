#include <pagoda/base/error.h>
#include <pagoda/pipeline/staged_towers.h>
#include <pagoda/pipeline/stages.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/machines.h"
#include "support/staged_models.h"

namespace pagoda {
namespace stages_test {

using testing::cpu_devices;
using testing::DeepMlp;
using testing::make_deep_mlp;
using testing::message_of;
using testing::first_cards;

std::string refusal(const StageOptions& options, std::vector<Layer> (*layers)(DeepMlp&),
                    int devices = 2) {
  return message_of<UsageError>(
      [&] { make_staged_towers(cpu_devices(devices), make_deep_mlp, options, {}, layers); });
}

std::vector<Layer> own_layers(DeepMlp& model) { return model->layers(); }

TEST(StagesTest, DevicesAreDealtOutTowerByTower) {
  const Stages stages(cpu_devices(6), {.stages = 3});
  EXPECT_EQ(stages.towers(), 2);
  EXPECT_EQ(stages.device(1, 0).label(), "cpu:3");
  EXPECT_EQ(stages.device(1, 2).label(), "cpu:5");
  EXPECT_EQ(stages.tower_devices()[1].label(), "cpu:3");
}

TEST(StagesTest, AnOutputLayerOnEveryStageIsNotCountedToTheLast) {
  const auto layers_of = [](int stages, OutputPlace output) {
    auto towers = make_staged_towers(cpu_devices(stages), make_deep_mlp,
                                     {.stages = stages, .output = output});
    std::vector<std::size_t> counts;
    for (const Stage& stage : towers.stages().replica(0)->stages)
      counts.push_back(stage.layers.size());
    return counts;
  };
  using Counts = std::vector<std::size_t>;
  EXPECT_EQ(layers_of(2, OutputPlace::last_stage), (Counts{2, 2}));
  EXPECT_EQ(layers_of(2, OutputPlace::every_stage), (Counts{2, 1}));
  EXPECT_EQ(layers_of(3, OutputPlace::every_stage), (Counts{1, 1, 1}));
  EXPECT_EQ(layers_of(4, OutputPlace::every_stage), (Counts{1, 1, 1, 0}));
}

TEST(StagesTest, EveryTensorIsOnTheCardOfItsStageAndNowhereElse) {
  auto towers =
      make_staged_towers(first_cards(4), make_deep_mlp, {.stages = 2, .layers_per_stage = {1, 3}});
  ASSERT_EQ(towers.size(), 2);
  EXPECT_EQ(towers.replicas()->placement(), ParameterPlacement::host);
  for (int tower = 0; tower < 2; ++tower) {
    const DeepMlp& model = towers.model(tower);
    std::vector<std::int64_t> bytes(2);
    for (const auto& [name, tensor] : towers.table(tower).trainable) {
      const int stage = name.rfind("first", 0) == 0 ? 0 : 1;
      EXPECT_EQ(tensor.device().index(), 2 * tower + stage) << name;
      bytes[static_cast<std::size_t>(stage)] += static_cast<std::int64_t>(tensor.nbytes());
    }
    EXPECT_EQ(model->first->weight.device().index(), 2 * tower);
    // A card rounds up what it hands out.
    for (int stage = 0; stage < 2; ++stage) {
      const auto in_use = towers.stages().memory(tower, stage).in_use;
      EXPECT_GE(in_use, bytes[static_cast<std::size_t>(stage)]);
      EXPECT_LE(in_use, bytes[static_cast<std::size_t>(stage)] + 8 * 512);
    }
  }
}

TEST(StagesTest, CpuTowersShareTheirParameters) {
  auto towers = make_staged_towers(cpu_devices(4), make_deep_mlp, {.stages = 2});
  EXPECT_EQ(towers.replicas()->placement(), ParameterPlacement::shared);
  EXPECT_EQ(towers.model(0)->last->weight.data_ptr(), towers.model(1)->last->weight.data_ptr());
}

TEST(StagesTest, CardsCannotShareTheirParameters) {
  const std::string text = message_of<UsageError>([] {
    make_staged_towers(first_cards(2), make_deep_mlp, {.stages = 2},
                       {.placement = ParameterPlacement::shared});
  });
  EXPECT_NE(text.find("place them host"), std::string::npos) << text;
}

TEST(StagesTest, StagesAreEvenUnlessTheyAreGiven) {
  auto towers = make_staged_towers(cpu_devices(3), make_deep_mlp, {.stages = 3});
  const auto replica = towers.stages().replica(0);
  EXPECT_EQ(replica->stages[0].layers.size(), 2u);
  EXPECT_EQ(replica->stages[2].layers.size(), 1u);
  EXPECT_EQ(replica->stages[2].first_layer, 3);
}

TEST(StagesTest, WhatCannotBeCutIsRefused) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, refusal({.stages = 2}, own_layers, 3), "3 devices");
  EXPECT_PRED2(has, refusal({.stages = 0}, own_layers), "stages is 0; it must be at least 1");
  EXPECT_PRED2(has, refusal({.stages = 5}, own_layers, 5), "4 layers");
  EXPECT_PRED2(has, refusal({.stages = 2, .layers_per_stage = {1, 1}}, own_layers), "2 layers");
  EXPECT_PRED2(has, refusal({.stages = 2, .layers_per_stage = {4}}, own_layers), "1 of 2 stages");
  EXPECT_PRED2(has, refusal({.stages = 2, .layers_per_stage = {4, 0}}, own_layers), "stage 1");
}

TEST(StagesTest, AModelWhoseLayersDoNotCoverItIsRefused) {
  const std::string text = refusal({.stages = 2}, [](DeepMlp& model) {
    auto layers = model->layers();
    layers[1].tensors.pop_back();
    return layers;
  });
  EXPECT_NE(text.find("'second.bias'"), std::string::npos) << text;
}

TEST(StagesTest, AParameterInTwoStagesIsRefusedAndInTwoLayersOfOneStageIsNot) {
  const auto tied = [](DeepMlp& model) {
    auto layers = model->layers();
    layers[1].tensors.push_back(model->first->weight);
    return layers;
  };
  const std::string text = refusal({.stages = 2, .layers_per_stage = {1, 3}}, tied);
  EXPECT_NE(text.find("layers first and second"), std::string::npos) << text;
  EXPECT_EQ(refusal({.stages = 2, .layers_per_stage = {2, 2}}, tied), "");
}

TEST(StagesTest, EveryStageRunsInAThreadOfItsOwn) {
  Stages stages(cpu_devices(3), {.stages = 3});
  std::vector<std::thread::id> ids(3);
  stages.run(0,
             [&](int stage) { ids[static_cast<std::size_t>(stage)] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], ids[0]);
  EXPECT_NE(ids[2], ids[1]);
}

TEST(StagesTest, TheFirstFailingStageIsReportedAfterAllHaveEnded) {
  Stages stages(cpu_devices(3), {.stages = 3});
  std::atomic<int> ended = 0;
  const std::string text = message_of<std::runtime_error>([&] {
    stages.run(0, [&](int stage) {
      ++ended;
      if (stage > 0) throw std::runtime_error("from stage " + std::to_string(stage));
    });
  });
  EXPECT_EQ(text, "from stage 1");
  EXPECT_EQ(ended, 3);
}

}  // namespace stages_test
}  // namespace pagoda
