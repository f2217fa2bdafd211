#include "optim/optimizer_state.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "optim/update_fixtures.h"
#include "params/gradient_fixtures.h"

namespace pagoda {
namespace optimizer_state_test {

using pagoda::testing::every_optimizer;
using pagoda::testing::filled;
using pagoda::testing::name_of;
using pagoda::testing::NamedOptimizer;

std::vector<NamedTensor> two_parameters() {
  return {{"conv", at::empty({2, 3, 4, 5}).to(at::MemoryFormat::ChannelsLast)},
          {"bias", at::empty({7}, at::kDouble)}};
}

class OptimizerStateTest : public ::testing::TestWithParam<NamedOptimizer> {};

TEST_P(OptimizerStateTest, HasTheTensorsOfTheOptimizerByName) {
  const std::map<std::string, std::vector<std::string>> slots = {
      {"sgd", {}},
      {"momentum", {"momentum"}},
      {"nesterov", {"momentum"}},
      {"adam", {"mean", "square"}},
      {"adamw", {"mean", "square"}},
      {"adagrad", {"sum"}},
      {"rmsprop", {"square"}},
      {"rmsprop_momentum", {"square", "momentum"}},
      {"rmsprop_centered", {"square", "momentum", "mean"}},
      {"rmsprop_centered_momentum", {"square", "momentum", "mean"}},
  };
  const OptimizerState state(two_parameters(), GetParam().options);
  std::vector<std::string> expected;
  for (const char* parameter : {"conv", "bias"}) {
    for (const auto& slot : slots.at(GetParam().name)) expected.push_back(slot + "/" + parameter);
  }
  expected.emplace_back("updates");
  std::vector<std::string> names;
  for (const auto& entry : state.tensors()) names.push_back(entry.name);
  EXPECT_EQ(names, expected);
}

TEST_P(OptimizerStateTest, TensorsAreLaidOutLikeTheirParameter) {
  const auto parameters = two_parameters();
  const OptimizerState state(parameters, GetParam().options);
  for (std::size_t parameter = 0; parameter < parameters.size(); ++parameter) {
    for (std::size_t slot = 0; slot < state.slots(); ++slot) {
      const at::Tensor& tensor = state.tensor(parameter, slot);
      EXPECT_EQ(tensor.strides(), parameters[parameter].tensor.strides());
      EXPECT_EQ(tensor.scalar_type(), parameters[parameter].tensor.scalar_type());
    }
  }
}

// The promise by which an exact update may leave untouched rows out.
TEST_P(OptimizerStateTest, RestsWithoutGradientWhenAZeroGradientChangesNothing) {
  at::Tensor parameter = filled({5}, at::kDouble, [](auto i) { return std::sin(i + 1.0); });
  OptimizerState state({{"p", parameter}}, GetParam().options);
  const auto update = [&](const at::Tensor& gradient) {
    UpdateSpan<double> span{};
    span.parameter = parameter.mutable_data_ptr<double>();
    for (std::size_t i = 0; i < state.slots(); ++i) {
      span.state[i] = state.tensor(0, i).mutable_data_ptr<double>();
    }
    span.gradient = gradient.const_data_ptr<double>();
    span.count = parameter.numel();
    update_span(state.next_step(0, 0.1, true), 0, 0, span);
  };
  const auto everything = [&] {
    std::vector<at::Tensor> copies = {parameter.clone()};
    for (std::size_t i = 0; i < state.slots(); ++i) copies.push_back(state.tensor(0, i).clone());
    return copies;
  };

  update(at::full({5}, 0.5, at::kDouble));
  const auto before = everything();
  update(at::full({5}, 0.0, at::kDouble));
  const auto after = everything();
  bool changed = false;
  for (std::size_t i = 0; i < before.size(); ++i) changed |= !before[i].equal(after[i]);
  EXPECT_EQ(state.rests_without_gradient(), !changed);
}

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, OptimizerStateTest, ::testing::ValuesIn(every_optimizer()),
                         name_of);

TEST(OptimizerStateTest, StartsAtZeroOrTheInitialAccumulator) {
  const OptimizerState adam(two_parameters(), Adam{});
  EXPECT_TRUE(adam.tensor(0, 1).eq(0).all().item<bool>());
  const OptimizerState adagrad(two_parameters(), Adagrad{.initial_accumulator = 0.25});
  EXPECT_TRUE(adagrad.tensor(0, 0).eq(0.25).all().item<bool>());
  EXPECT_TRUE(adagrad.tensor(1, 0).eq(0.25).all().item<bool>());
}

TEST(OptimizerStateTest, CountsTheUpdatesOfEachParameter) {
  OptimizerState state(two_parameters(), Adam{.beta1 = 0.5, .beta2 = 0.75});
  state.next_step(1, 1.0, false);
  const auto first = std::get<AdamStep>(state.next_step(0, 1.0, false));
  const auto second = std::get<AdamStep>(state.next_step(1, 1.0, false));
  EXPECT_DOUBLE_EQ(first.rate, 1 / (1 - 0.5));
  EXPECT_DOUBLE_EQ(first.root_correction, 1 / std::sqrt(1 - 0.75));
  EXPECT_DOUBLE_EQ(second.rate, 1 / (1 - 0.25));
  EXPECT_DOUBLE_EQ(second.root_correction, 1 / std::sqrt(1 - 0.5625));

  const at::Tensor updates = state.tensors().back().tensor;
  EXPECT_EQ(updates[0].item<std::int64_t>(), 1);
  EXPECT_EQ(updates[1].item<std::int64_t>(), 2);
  updates[0] = 9;  // as a resume does
  EXPECT_DOUBLE_EQ(std::get<AdamStep>(state.next_step(0, 1.0, false)).rate,
                   1 / (1 - std::pow(0.5, 10)));
}

TEST(OptimizerStateTest, DampeningBeginsWithTheSecondUpdate) {
  OptimizerState state(two_parameters(), Sgd{.momentum = 0.9, .dampening = 0.25});
  EXPECT_EQ(std::get<MomentumStep>(state.next_step(0, 1.0, false)).gain, 1);
  EXPECT_EQ(std::get<MomentumStep>(state.next_step(0, 1.0, false)).gain, 0.75);
}

TEST(OptimizerStateTest, WeightDecayShrinksOnlyWhatDecays) {
  OptimizerState state(two_parameters(), AdamW{.weight_decay = 0.5});
  EXPECT_DOUBLE_EQ(std::get<AdamStep>(state.next_step(0, 0.25, true)).keep, 1 - 0.25 * 0.5);
  EXPECT_DOUBLE_EQ(std::get<AdamStep>(state.next_step(1, 0.25, false)).keep, 1);
}

}  // namespace optimizer_state_test
}  // namespace pagoda
