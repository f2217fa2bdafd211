// Gradients that leave for the other processes while backward still runs.

#include "train/early_gradients.h"

#include <pagoda/train/sync_step.h>

#include <atomic>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "world/ranks.h"

namespace pagoda {
namespace early_gradients_test {

using testing::copies;
using testing::cpu_devices;
using testing::feeds_of;
using testing::in_double;
using testing::MeanSquare;
using testing::Mlp;

std::shared_ptr<World> borrowed(World& world) {
  return {&world, [](World*) {}};
}

Mlp make_mlp() { return in_double(Mlp()); }

TEST(EarlyGradientsTest, ABucketLeavesOnceEveryTowerHasFinishedItAndNotBefore) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(2), make_mlp);
    const auto& parameters = towers.replicas()->master().trainable;
    WorldSum sum(borrowed(world), parameters, WireType::fp32, nullptr, 1);  // a bucket for each parameter
    EarlyGradients early(towers.replicas(), sum);
    early.begin({.towers = {1, 1},
                 .parameters = std::vector<char>(parameters.size(), 1),
                 .buckets = std::vector<char>(sum.buckets().size(), 1),
                 .weight = 3});
    for (int tower = 0; tower < 2; ++tower) {
      for (std::size_t b = 0; b < sum.buckets().size(); ++b) EXPECT_FALSE(early.has_left(b));
      early.last_backward(tower);
      MeanSquare()(towers.model(tower), feeds_of(testing::vector_feed, {2}, 0)[0]).backward();
    }
    for (std::size_t b = 0; b < sum.buckets().size(); ++b) EXPECT_TRUE(early.has_left(b));
    sum.finish();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(early.finished_once(i));
      // Two processes with two equal towers each, each of weight 3.
      const at::Tensor expected = towers.model(0)->parameters()[i].grad() * 12;
      EXPECT_TRUE(sum.place(i).allclose(expected, 1e-14, 0)) << parameters[i].name;
    }
  });
}

TEST(EarlyGradientsTest, FromTheSecondStepOnGradientsLeaveDuringBackward) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(1), make_mlp);
    std::atomic<std::int64_t> before_collect = 0;
    const StepOptions options{.world = borrowed(world), .on_phase = [&](const TowerJob& job) {
                                if (std::string(job.phase) == "collect")
                                  before_collect = world.traffic().exchanges;
                              }};
    SyncStep step(towers, Sgd{.learning_rate = 0.1}, options);
    for (int i = 0; i < 3; ++i) {
      const std::int64_t before = world.traffic().exchanges;
      step.run(feeds_of(testing::vector_feed, {2}, i), MeanSquare());
      EXPECT_EQ(before_collect > before, i > 0) << i;
    }
  });
}

TEST(EarlyGradientsTest, WhatLeavesEarlyGivesTheSameBitsAsWhatLeavesLate) {
  std::vector<std::vector<at::Tensor>> found(2);
  for (const bool late : {false, true}) {
    on_ranks(3, [&](World& world) {
      auto towers = make_towers(cpu_devices(2), make_mlp);
      StepOptions options{.world = borrowed(world)};
      if (late) options.max_tower_grad_norm = 1e9;  // clips nothing
      SyncStep step(towers, Adam{.learning_rate = 0.1}, options);
      for (int i = 0; i < 4; ++i)
        step.run(feeds_of(testing::vector_feed, {2, 3, 1}, 7 * i + world.rank()), MeanSquare());
      if (world.rank() == 0) found[late ? 1 : 0] = copies(towers.master().trainable);
    });
  }
  EXPECT_TRUE(testing::all_equal(found[0], found[1]));
}

/// Computes a layer again in backward, which runs backward inside of backward.
struct Recomputed : torch::autograd::Function<Recomputed> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            torch::nn::Linear* layer) {
    context->save_for_backward({input});
    context->saved_data["layer"] = reinterpret_cast<std::int64_t>(layer);
    at::NoGradGuard no_grad;
    return (*layer)(input);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto* layer = reinterpret_cast<torch::nn::Linear*>(context->saved_data["layer"].toInt());
    at::AutoGradMode record(true);
    const at::Tensor input = context->get_saved_variables()[0].detach().requires_grad_();
    (*layer)(input).backward(gradients[0]);
    return {input.grad(), at::Tensor()};
  }
};

struct RecomputingImpl : torch::nn::Module {
  explicit RecomputingImpl(bool recomputes) : recomputes(recomputes) {}
  at::Tensor apply(const at::Tensor& input) {
    return recomputes ? Recomputed::apply(input, &layer) : layer(input);
  }
  at::Tensor forward(at::Tensor input) {
    input = input.narrow(1, 0, 2).detach().requires_grad_();
    return apply(apply(input).tanh());  // the layer's gradient is added to twice
  }
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(2, 2));
  const bool recomputes;
};
TORCH_MODULE(Recomputing);

TEST(EarlyGradientsTest, AGradientThatIsAddedToAfterwardsWaitsUntilBackwardHasEnded) {
  std::vector<std::vector<at::Tensor>> found(2);
  for (const bool recomputes : {false, true}) {
    on_ranks(2, [&](World& world) {
      torch::manual_seed(1);
      auto towers = make_towers(cpu_devices(1), [&] {
        auto model = in_double(Recomputing(recomputes));
        torch::NoGradGuard no_grad;
        model->layer->weight.copy_(torch::arange(4, at::kDouble).view({2, 2}).sin());
        model->layer->bias.fill_(0.5);
        return model;
      });
      SyncStep step(towers, Sgd{.learning_rate = 0.1}, {.world = borrowed(world)});
      for (int i = 0; i < 3; ++i) {
        step.run(feeds_of(testing::vector_feed, {3}, i + world.rank()),
                 [](Recomputing& model, const Batch& batch) {
                   return model(batch.input).square().mean();
                 });
      }
      if (world.rank() == 0) found[recomputes ? 1 : 0] = copies(towers.master().trainable);
    });
  }
  EXPECT_LT(testing::largest_difference(found[0], found[1]), 1e-13);
}

}  // namespace early_gradients_test
}  // namespace pagoda
