#include "pipeline/stage_output.h"

#include <pagoda/base/error.h>
#include <pagoda/pipeline/pipeline_step.h>

#include <string>

#include <gtest/gtest.h>

#include "support/machines.h"
#include "support/staged_models.h"

namespace pagoda {
namespace stage_output_test {

using testing::BatchInput;
using testing::cpu_devices;
using testing::DeepMlp;
using testing::DeepNoisy;
using testing::feeds_of;
using testing::make_deep_mlp;
using testing::message_of;
using testing::first_cards;
using testing::StagedMeanSquare;
using testing::vector_feed;

constexpr StageOptions every_stage(int stages) {
  return {.stages = stages, .layers_per_stage = {}, .output = OutputPlace::every_stage};
}

TEST(StageOutputTest, OnCpuDevicesTheCopiesShareTheModelsMemory) {
  auto towers = make_staged_towers(cpu_devices(6), make_deep_mlp, every_stage(3));
  PipelineStep step(towers, Adam{.learning_rate = 0.1});
  step.run(feeds_of(vector_feed, {2, 2, 2, 2}, 0), BatchInput(), StagedMeanSquare());
  for (int tower = 0; tower < 2; ++tower) {
    DeepMlp& own = towers.model(tower);
    EXPECT_EQ(&towers.stage_models().output_model(tower, 2), &own);
    for (int stage = 0; stage < 2; ++stage) {
      DeepMlp& copy = towers.stage_models().output_model(tower, stage);
      EXPECT_EQ(copy->last->weight.data_ptr(), own->last->weight.data_ptr());
      EXPECT_EQ(copy->last->bias.data_ptr(), own->last->bias.data_ptr());
      for (const auto& parameter : {copy->first->weight, copy->second->bias, copy->third->weight})
        EXPECT_EQ(parameter.numel(), 0);
    }
  }
}

TEST(StageOutputTest, OnCardsEachHasACopyOfThatLayerAlone) {
  auto towers = make_staged_towers(first_cards(4), make_deep_mlp, every_stage(2));
  for (int tower = 0; tower < 2; ++tower) {
    DeepMlp& copy = towers.stage_models().output_model(tower, 0);
    EXPECT_EQ(copy->last->weight.device().index(), 2 * tower);
    EXPECT_TRUE(copy->last->weight.cpu().equal(towers.model(tower)->last->weight.cpu()));
    EXPECT_EQ(copy->third->weight.numel(), 0);
    // Weight and bias of the layers first, second and last; a card rounds up what it hands out.
    const auto in_use = towers.stages().memory(tower, 0).in_use;
    std::int64_t bytes = 0;
    for (const auto& linear :
         {towers.model(tower)->first, towers.model(tower)->second, copy->last}) {
      bytes += static_cast<std::int64_t>(linear->weight.nbytes() + linear->bias.nbytes());
    }
    EXPECT_GE(in_use, bytes);
    EXPECT_LE(in_use, bytes + 6 * 512);
  }
}

TEST(StageOutputTest, TheCopiesFollowTheValues) {
  for (const auto& devices : {cpu_devices(2), first_cards(2)}) {
    auto towers = make_staged_towers(devices, make_deep_mlp, every_stage(2));
    PipelineStep step(towers, Adam{.learning_rate = 0.1});
    const at::Tensor before = towers.model(0)->last->weight.detach().cpu().clone();
    const auto run = [&] {
      step.run(feeds_of(vector_feed, {2, 2}, 0), BatchInput(), StagedMeanSquare());
    };
    run();
    const at::Tensor after = towers.model(0)->last->weight.detach().cpu().clone();
    EXPECT_FALSE(after.equal(before));
    run();  // begins with the new values
    EXPECT_FALSE(towers.stage_models().output_model(0, 0)->last->weight.cpu().equal(before));
  }
}

TEST(StageOutputTest, TheCopiesFollowTheMode) {
  auto towers = make_staged_towers(cpu_devices(2), [] { return DeepNoisy(); }, every_stage(2));
  const StagedReplica& replica = *towers.stages().replica(0);
  for (const bool training : {false, true}) {
    towers.model(0)->train(training);
    renew_output(replica, 0);
    EXPECT_EQ(towers.stage_models().output_model(0, 0)->is_training(), training);
    EXPECT_EQ(towers.stage_models().output_model(0, 0)->dropout->is_training(), training);
  }
  towers.model(0)->dropout->eval();
  renew_output(replica, 0);
  EXPECT_TRUE(towers.stage_models().output_model(0, 0)->is_training());
  EXPECT_FALSE(towers.stage_models().output_model(0, 0)->dropout->is_training());
}

TEST(StageOutputTest, ALayerWithBuffersIsRefused) {
  const auto all_in_one = [](DeepNoisy& model) {
    auto layers = model->layers();
    layers.pop_back();
    return layers;
  };
  const auto without_last = [] {
    DeepNoisy model;
    model->unregister_module("last");
    return model;
  };
  const std::string text = message_of<UsageError>(
      [&] { make_staged_towers(cpu_devices(2), without_last, every_stage(2), {}, all_in_one); });
  EXPECT_NE(text.find("'second' has the buffer 'norm2.running_mean'"), std::string::npos) << text;
}

TEST(StageOutputTest, AFactoryThatBuildsDifferentModelsIsRefused) {
  struct GrowingImpl : torch::nn::Module {
    explicit GrowingImpl(int outputs) : last(torch::nn::Linear(3, outputs)) {
      register_module("first", first);
      register_module("last", last);
    }
    std::vector<Layer> layers() {
      return {layer("first", tensors_of(*first), [this](const at::Tensor& x) { return first(x); }),
              layer("last", tensors_of(*last), [this](const at::Tensor& x) { return last(x); })};
    }
    torch::nn::Linear first{2, 3};
    torch::nn::Linear last;
  };
  int built = 0;
  const std::string text = message_of<UsageError>([&] {
    make_staged_towers(
        cpu_devices(2), [&] { return std::make_shared<GrowingImpl>(++built); }, every_stage(2));
  });
  EXPECT_NE(text.find("must build the same model each time"), std::string::npos) << text;
}

TEST(StageOutputTest, GradientsAreAdded) {
  const at::Tensor with = torch::zeros({2}).requires_grad_();
  const at::Tensor without = torch::zeros({2}).requires_grad_();
  const at::Tensor untouched = torch::zeros({2}).requires_grad_();
  with.mutable_grad() = torch::tensor({1.0F, 2.0F});
  add_gradients({with, without, untouched},
                {torch::tensor({3.0F, 4.0F}), torch::tensor({5.0F, 6.0F}), {}});
  EXPECT_TRUE(with.grad().equal(torch::tensor({4.0F, 6.0F})));
  EXPECT_TRUE(without.grad().equal(torch::tensor({5.0F, 6.0F})));
  EXPECT_FALSE(untouched.grad().defined());
}

TEST(StageOutputTest, GradientsThatShareMemoryAreAddedOnce) {
  const at::Tensor a = torch::ones({2, 3}).requires_grad_();
  const at::Tensor b = torch::ones({2, 3}).requires_grad_();
  (a.t() + b.t()).square().sum().backward();  // 4 for each element
  ASSERT_EQ(a.grad().data_ptr(), b.grad().data_ptr()) << "LibTorch has changed";
  add_gradients({a, b}, {torch::ones({2, 3}), torch::ones({2, 3})});
  EXPECT_TRUE(a.grad().equal(torch::full({2, 3}, 5.0F)));
  EXPECT_TRUE(b.grad().equal(a.grad()));
}

}  // namespace stage_output_test
}  // namespace pagoda
