#include "optim/optimizer_state.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "optim/optimizer_traits.h"
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

/// For all elements.
OptimizerState state_of(const std::vector<NamedTensor>& parameters,
                        const OptimizerOptions& optimizer, const UpdateOptions& options = {}) {
  return {parameters, traits_of(optimizer).state, options, BlockPlan(parameters).ranges(0, 1)};
}

UpdaterState whole(const OptimizerState& state) {
  UpdaterState whole = state.room();
  state.write_to(whole);
  return whole;
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
  const OptimizerState state = state_of(two_parameters(), GetParam().options);
  std::vector<std::string> expected;
  for (const char* parameter : {"conv", "bias"}) {
    for (const auto& slot : slots.at(GetParam().name)) expected.push_back(slot + "/" + parameter);
  }
  expected.emplace_back("updates");
  std::vector<std::string> names;
  for (const auto& entry : state.room().optimizer) names.push_back(entry.name);
  EXPECT_EQ(names, expected);
}

TEST_P(OptimizerStateTest, WholeTensorsAreLaidOutLikeTheirParameter) {
  const auto parameters = two_parameters();
  const OptimizerState state =
      state_of(parameters, GetParam().options, {.moving_average = MovingAverage{}});
  const UpdaterState room = state.room();
  for (std::size_t parameter = 0; parameter < parameters.size(); ++parameter) {
    std::vector<at::Tensor> tensors = {room.averages[parameter]};
    for (std::size_t slot = 0; slot < state.slots(); ++slot)
      tensors.push_back(room.optimizer[parameter * state.slots() + slot].tensor);
    for (const auto& tensor : tensors) {
      EXPECT_EQ(tensor.strides(), parameters[parameter].tensor.strides());
      EXPECT_EQ(tensor.scalar_type(), parameters[parameter].tensor.scalar_type());
    }
  }
}

TEST_P(OptimizerStateTest, PartsTakeTheirElementsOnlyAndMakeUpTheWhole) {
  const std::vector<NamedTensor> parameters = {{"w", at::empty({70'000}, at::kDouble)},
                                               {"b", at::empty({7}, at::kDouble)}};
  const UpdateOptions options{.moving_average = MovingAverage{}};
  UpdaterState filled_in = state_of(parameters, GetParam().options, options).room();
  std::int64_t offset = 0;
  for (const auto& entry : filled_in.optimizer)
    entry.tensor.copy_(at::arange(entry.tensor.numel()) + ++offset);
  for (const auto& average : filled_in.averages) average.copy_(at::arange(average.numel()));
  const BlockPlan plan(parameters);
  UpdaterState back = state_of(parameters, GetParam().options, options).room();
  std::int64_t elements = 0;
  for (int part = 0; part < 3; ++part) {
    OptimizerState state(parameters, traits_of(GetParam().options).state, options,
                         plan.ranges(part, 3));
    state.load(filled_in);
    state.write_to(back);
    elements += state.average(0).numel() + state.average(1).numel();
  }
  EXPECT_EQ(elements, 70'007);
  for (std::size_t i = 0; i < back.optimizer.size(); ++i)
    EXPECT_TRUE(back.optimizer[i].tensor.equal(filled_in.optimizer[i].tensor)) << i;
  for (std::size_t i = 0; i < back.averages.size(); ++i)
    EXPECT_TRUE(back.averages[i].equal(filled_in.averages[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, OptimizerStateTest, ::testing::ValuesIn(every_optimizer()),
                         name_of);

TEST(OptimizerStateTest, StartsAtZeroOrTheInitialAccumulator) {
  const OptimizerState adam = state_of(two_parameters(), Adam{});
  EXPECT_TRUE(adam.tensor(0, 1).eq(0).all().item<bool>());
  const OptimizerState adagrad = state_of(two_parameters(), Adagrad{.initial_accumulator = 0.25});
  EXPECT_TRUE(adagrad.tensor(0, 0).eq(0.25).all().item<bool>());
  EXPECT_TRUE(adagrad.tensor(1, 0).eq(0.25).all().item<bool>());
}

TEST(OptimizerStateTest, CountsTheUpdatesOfEachParameter) {
  OptimizerState state = state_of(two_parameters(), Adam{});
  EXPECT_EQ(state.count_update(1), 1);
  EXPECT_EQ(state.count_update(0), 1);
  EXPECT_EQ(state.count_update(1), 2);

  const UpdaterState saved = whole(state);
  const at::Tensor updates = saved.optimizer.back().tensor;
  EXPECT_EQ(updates[0].item<std::int64_t>(), 1);
  EXPECT_EQ(updates[1].item<std::int64_t>(), 2);
  updates[0] = 9;
  state.load(saved);
  EXPECT_EQ(state.count_update(0), 10);
}

}  // namespace optimizer_state_test
}  // namespace pagoda
