#include "train/gradient_hook.h"

#include <pagoda/base/error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/sync_step.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/async_fixtures.h"
#include "support/golden.h"

namespace pagoda {
namespace gradient_hook_test {

using namespace pagoda::testing;

class GradientHookTest : public ::testing::TestWithParam<PlacedMachine> {};
INSTANTIATE_TEST_SUITE_P(Towers, GradientHookTest, ::testing::ValuesIn(few_placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

template <class Make>
std::vector<at::Tensor> trained(const PlacedMachine& placed, Make make, MakeFeed make_feed,
                                const StepOptions& options) {
  auto towers = make_towers(placed.machine.devices(), make, {.placement = placed.placement});
  SyncStep step(towers, Sgd{.learning_rate = 0.1, .momentum = 0.9}, options);
  for (int i = 0; i < 3; ++i) step.run(feeds_of(make_feed, {2, 3, 1}, i), MeanSquare());
  for (int tower = 0; tower < towers.size(); ++tower)
    EXPECT_TRUE(
        all_equal(copies(towers.table(tower).trainable), copies(towers.master().trainable)));
  return copies(towers.master().trainable);
}

TEST_P(GradientHookTest, SeesTheCombinedGradientOfEveryParameter) {
  const auto [machine, placement] = GetParam();
  auto towers = make_towers(machine.devices(), make_mlp, {.placement = placement});
  auto plain = make_mlp();
  copy_values(towers, *plain);
  std::map<std::string, at::Tensor> seen;
  SyncStep step(towers, Sgd{}, {.on_gradient = [&](const std::string& name, at::Tensor& gradient) {
                  seen[name] = gradient.clone();
                }});
  const auto feeds = feeds_of(vector_feed, {2, 3, 1}, 0);
  step.run(feeds, MeanSquare());
  MeanSquare()(plain, whole(feeds)).backward();
  ASSERT_EQ(seen.size(), 4u);
  for (const auto& entry : plain->named_parameters()) {
    EXPECT_LT(largest_difference({seen.at(entry.key())}, {entry.value().grad()}), kGoldenTolerance);
    EXPECT_TRUE(seen.at(entry.key()).is_cpu());
  }
}

TEST_P(GradientHookTest, OneThatOnlyLooksChangesNothing) {
  const auto sparse = [] { return in_double(Words(true)); };
  StepOptions options{.max_tower_grad_norm = 0.5, .max_grad_norm = 0.3, .l2 = 0.1};
  const auto without = trained(GetParam(), make_mlp, vector_feed, options);
  const auto sparse_without = trained(GetParam(), sparse, word_feed, {});
  options.on_gradient = [](const std::string&, at::Tensor&) {};
  EXPECT_LT(largest_difference(trained(GetParam(), make_mlp, vector_feed, options), without),
            kGoldenTolerance);
  EXPECT_LT(largest_difference(trained(GetParam(), sparse, word_feed,
                                       {.on_gradient =
                                            [](const std::string& name, at::Tensor& gradient) {
                                              EXPECT_EQ(gradient.is_sparse(),
                                                        name == "table.weight");
                                            }}),
                               sparse_without),
            kGoldenTolerance);
}

TEST_P(GradientHookTest, WhatItLeavesIsClippedAndUpdatesTheParameters) {
  // Scaling every gradient beyond the clip, by a hook and by the loss, comes to the same.
  const StepOptions plain{.max_grad_norm = 0.01};
  StepOptions scaled = plain;
  scaled.on_gradient = [](const std::string& name, at::Tensor& gradient) {
    if (name == "hidden.weight") {
      gradient.mul_(100);
    } else {
      gradient = gradient * 100;
    }
  };
  EXPECT_LT(largest_difference(trained(GetParam(), make_mlp, vector_feed, scaled),
                               trained(GetParam(), make_mlp, vector_feed, plain)),
            1e-10);
}

TEST_P(GradientHookTest, AGradientThatItDropsLeavesTheParameterAsItIs) {
  const auto frozen = trained(GetParam(), make_mlp, vector_feed,
                              {.parameter_rules = {{.names = "*.bias", .frozen = true}}});
  const auto dropped = trained(GetParam(), make_mlp, vector_feed,
                               {.on_gradient = [](const std::string& name, at::Tensor& gradient) {
                                 if (name.ends_with("bias")) gradient.reset();
                               }});
  EXPECT_LT(largest_difference(dropped, frozen), kGoldenTolerance);
}

TEST(GradientHookTest, WhatItThrowsEndsTheStepWithNothingChanged) {
  auto towers = make_towers(cpu_devices(2), make_mlp);
  bool armed = true;
  SyncStep step(towers, Sgd{}, {.on_gradient = [&](const std::string& name, at::Tensor& gradient) {
                  if (!armed) return;
                  if (name == "hidden.bias") throw std::out_of_range("enough");
                  gradient.zero_();
                }});
  const auto before = copies(towers.master().trainable);
  const auto run = [&] { return step.run(feeds_of(vector_feed, {2, 3}, 0), MeanSquare()).step; };
  EXPECT_THROW(run(), std::out_of_range);
  EXPECT_TRUE(all_equal(copies(towers.master().trainable), before));
  armed = false;
  EXPECT_EQ(run(), 0);
}

TEST(GradientHookTest, AGradientOfAnotherShapeIsRefused) {
  auto towers = make_towers(cpu_devices(1), make_mlp);
  SyncStep step(towers, Sgd{}, {.on_gradient = [&](const std::string&, at::Tensor& gradient) {
                  gradient = torch::zeros({2});
                }});
  const std::string text =
      message_of<UsageError>([&] { step.run(feeds_of(vector_feed, {2}, 0), MeanSquare()); });
  EXPECT_NE(text.find("Float [2] for 'hidden.weight'; it must be Double [7, 4]"), std::string::npos)
      << text;
}

TEST(GradientHookTest, SeesAsynchronousUpdatesToo) {
  auto towers = host_towers(2, make_mlp);
  std::map<std::string, int> seen;
  AsyncStep step(
      towers, Sgd{},
      {.max_grad_norm = 1, .on_gradient = [&](const std::string& name, at::Tensor& gradient) {
         ++seen[name];
         gradient.zero_();
       }});
  const auto before = copies(towers.master().trainable);
  for (int i = 0; i < 3; ++i) {
    const auto result = step.run(feeds_of(vector_feed, {2, 3}, i), MeanSquare());
    EXPECT_EQ(result.grad_norm, 0) << "measured after the hook";
  }
  step.finish();
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen["hidden.weight"], 6) << "an update for each feed";
  EXPECT_TRUE(all_equal(copies(towers.master().trainable), before));
}

}  // namespace gradient_hook_test
}  // namespace pagoda
