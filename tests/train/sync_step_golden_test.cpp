// N towers with B samples each equal one device with all samples: for every optimizer, option and
// cut of the batch. Models are in sync_step_golden_models_test.cpp.

#include <pagoda/train/sync_step.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"

namespace pagoda {
namespace sync_step_golden_test {

using testing::all_optimizers;
using testing::expect_equals_plain_training;
using testing::GoldenRun;
using testing::in_double;
using testing::Mlp;
using testing::NamedOptimizer;
using testing::placed_machines;
using testing::PlacedMachine;

Mlp make_mlp() { return in_double(Mlp()); }

class GoldenOptimizerTest
    : public ::testing::TestWithParam<std::tuple<NamedOptimizer, PlacedMachine>> {};

TEST_P(GoldenOptimizerTest, EqualsOneDevice) {
  const auto& [optimizer, placed] = GetParam();
  expect_equals_plain_training({.towers = placed.machine,
                                .optimizer = optimizer.options,
                                .tower = {.placement = placed.placement}},
                               make_mlp);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenOptimizerTest,
                         ::testing::Combine(::testing::ValuesIn(all_optimizers()),
                                            ::testing::ValuesIn(placed_machines())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" +
                                  ::testing::PrintToString(std::get<1>(info.param));
                         });

struct Feature {
  std::string name;
  std::function<void(GoldenRun&)> use;
};

void PrintTo(const Feature& feature, std::ostream* out) { *out << feature.name; }

/// Sizes 1, 2, 3, … of `count` feeds.
std::vector<std::int64_t> rising_sizes(int count) {
  std::vector<std::int64_t> sizes;
  for (int i = 1; i <= count; ++i) sizes.push_back(i);
  return sizes;
}

void use_everything(GoldenRun& run) {
  run.feed_sizes = rising_sizes(2 * run.towers + 1);
  run.step = {.max_grad_norm = 0.2, .l2 = 0.3, .moving_average = MovingAverage{.decay = 0.9}};
}

std::vector<Feature> features() {
  return {
      {"accumulation",
       [](GoldenRun& run) { run.feed_sizes.assign(static_cast<std::size_t>(3 * run.towers), 2); }},
      {"uneven_feeds", [](GoldenRun& run) { run.feed_sizes = rising_sizes(run.towers); }},
      {"uneven_accumulation",
       [](GoldenRun& run) { run.feed_sizes = rising_sizes(2 * run.towers + 1); }},
      {"fewer_feeds_than_towers",
       [](GoldenRun& run) { run.feed_sizes = rising_sizes((run.towers + 1) / 2); }},
      {"empty_feeds_between", [](GoldenRun& run) { run.feed_sizes = {0, 3, 0, 0, 5, 2, 0}; }},
      {"clip", [](GoldenRun& run) { run.step.max_grad_norm = 0.05; }},
      {"clip_that_is_not_reached", [](GoldenRun& run) { run.step.max_grad_norm = 1e3; }},
      {"l2", [](GoldenRun& run) { run.step.l2 = 0.3; }},
      {"l2_of_weights",
       [](GoldenRun& run) {
         run.step.l2 = 0.3;
         run.step.decay_scope = DecayScope::weights;
       }},
      {"l2_is_clipped_too",
       [](GoldenRun& run) {
         run.step.l2 = 2;
         run.step.max_grad_norm = 0.5;
       }},
      {"moving_average",
       [](GoldenRun& run) { run.step.moving_average = {.decay = 0.9, .num_updates_rule = false}; }},
      {"young_moving_average",
       [](GoldenRun& run) { run.step.moving_average = {.decay = 0.9, .num_updates_rule = true}; }},
      {"everything", use_everything},
  };
}

class GoldenFeatureTest : public ::testing::TestWithParam<std::tuple<Feature, PlacedMachine>> {};

TEST_P(GoldenFeatureTest, EqualsOneDevice) {
  const auto& [feature, placed] = GetParam();
  // Sgd shows every factor in front of the gradient, which Adam would divide out.
  for (const OptimizerOptions& optimizer : std::vector<OptimizerOptions>{
           Sgd{.learning_rate = 0.1, .momentum = 0.5}, Adam{.learning_rate = 0.02}}) {
    GoldenRun run{
        .towers = placed.machine, .optimizer = optimizer, .tower = {.placement = placed.placement}};
    feature.use(run);
    expect_equals_plain_training(run, make_mlp);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenFeatureTest,
                         ::testing::Combine(::testing::ValuesIn(features()),
                                            ::testing::ValuesIn(placed_machines())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" +
                                  ::testing::PrintToString(std::get<1>(info.param));
                         });

}  // namespace sync_step_golden_test
}  // namespace pagoda
