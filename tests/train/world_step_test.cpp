// M processes with N towers each equal one device with all samples. The processes are threads here.

#include "train/world_step.h"

#include <pagoda/train/async_step.h>
#include <pagoda/train/sync_step.h>

#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "world/ranks.h"

namespace pagoda {
namespace world_step_test {

using testing::all_optimizers;
using testing::copies;
using testing::copy_values;
using testing::feeds_of;
using testing::GoldenRun;
using testing::in_double;
using testing::kGoldenTolerance;
using testing::largest_difference;
using testing::MeanSquare;
using testing::Mlp;
using testing::PlainTraining;
using testing::whole;

using Towers = std::vector<int>;  // by rank

/// The feeds of a rank, when all towers of all ranks take turns.
std::vector<Batch> own_feeds(const std::vector<Batch>& all, const Towers& towers, int rank) {
  const int total = std::accumulate(towers.begin(), towers.end(), 0);
  const int before = std::accumulate(towers.begin(), towers.begin() + rank, 0);
  std::vector<Batch> own;
  for (int first = before; first < static_cast<int>(all.size()); first += total) {
    for (int feed = first; feed < first + towers[static_cast<std::size_t>(rank)]; ++feed) {
      if (feed < static_cast<int>(all.size())) own.push_back(all[static_cast<std::size_t>(feed)]);
    }
  }
  return own;
}

/// Expects that all ranks come to what one device comes to with all samples at once, and to the same
/// bits as each other.
template <class MakeModel, class MakePlain>
void expect_world_equals_plain(const Towers& towers, GoldenRun run, MakeModel make_model,
                               MakePlain make_plain) {
  if (run.feed_sizes.empty())
    run.feed_sizes.assign(std::accumulate(towers.begin(), towers.end(), std::size_t{0}), 3);
  std::mutex mutex;
  std::vector<at::Tensor> first;
  on_ranks(static_cast<int>(towers.size()), [&](World& world) {
    const int rank = world.rank();
    auto group = make_towers(testing::Machine(towers[static_cast<std::size_t>(rank)]).devices(),
                             make_model, run.tower);
    auto plain_model = make_plain();
    copy_values(group, *plain_model);
    StepOptions options = run.step;
    options.world = std::shared_ptr<World>(&world, [](World*) {});
    SyncStep step(group, run.optimizer, options);
    PlainTraining plain(plain_model, run.optimizer, run.step);
    for (int i = 0; i < run.steps; ++i) {
      const auto all = feeds_of(run.make_feed, run.feed_sizes, i);
      const StepResult result = step.run(own_feeds(all, towers, rank), MeanSquare());
      EXPECT_NEAR(result.loss, plain.step(whole(all)), kGoldenTolerance);
      EXPECT_EQ(result.weight, static_cast<double>(std::accumulate(run.feed_sizes.begin(),
                                                                   run.feed_sizes.end(), 0)));
    }
    const auto found = copies(group.master().trainable);
    EXPECT_LT(largest_difference(found, plain.parameters()), kGoldenTolerance);
    EXPECT_LT(largest_difference(step.updater().averages(), plain.averages()), kGoldenTolerance);
    const std::lock_guard lock(mutex);
    if (first.empty()) first = found;
    EXPECT_TRUE(testing::all_equal(found, first)) << "another rank has other bits";
  });
}

template <class MakeModel>
void expect_world_equals_plain(const Towers& towers, const GoldenRun& run, MakeModel make_model) {
  expect_world_equals_plain(towers, run, make_model, make_model);
}

Mlp make_mlp() { return in_double(Mlp()); }

const std::vector<Towers>& worlds() {
  static const std::vector<Towers> all{{2}, {1, 1}, {2, 1}, {1, 3, 2}, {1, 1, 1, 1}};
  return all;
}

TEST(WorldStepTest, EveryOptimizerEqualsOneDevice) {
  for (const auto& optimizer : all_optimizers()) {
    SCOPED_TRACE(optimizer.name);
    expect_world_equals_plain({1, 2}, {.optimizer = optimizer.options}, make_mlp);
  }
}

TEST(WorldStepTest, EveryOptionEqualsOneDeviceInWorldsOfOneToFour) {
  const std::vector<std::function<void(GoldenRun&)>> features{
      [](GoldenRun&) {},
      [](GoldenRun& run) { run.step.max_grad_norm = 0.05; },
      [](GoldenRun& run) { run.step.l2 = 0.3; },
      [](GoldenRun& run) {
        run.feed_sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // accumulation, uneven
        run.step = {.max_grad_norm = 0.2, .l2 = 0.3, .moving_average = MovingAverage{.decay = 0.9}};
      },
      [](GoldenRun& run) { run.feed_sizes = {5}; },  // only one tower of all has work
      [](GoldenRun& run) { run.feed_sizes = {0, 3, 0, 0, 5}; }};
  for (const Towers& towers : worlds()) {
    for (std::size_t i = 0; i < features.size(); ++i) {
      SCOPED_TRACE(std::to_string(towers.size()) + " ranks, feature " + std::to_string(i));
      for (const OptimizerOptions& optimizer : std::vector<OptimizerOptions>{
               Sgd{.learning_rate = 0.1, .momentum = 0.5}, Adam{.learning_rate = 0.02}}) {
        GoldenRun run{.optimizer = optimizer, .steps = 3};
        features[i](run);
        expect_world_equals_plain(towers, run, make_mlp);
      }
    }
  }
}

TEST(WorldStepTest, OtherPlacementsEqualOneDevice) {
  for (const auto placement : {ParameterPlacement::mirrored, ParameterPlacement::host,
                               ParameterPlacement::spread}) {
    expect_world_equals_plain({2, 1}, {.tower = {.placement = placement}}, make_mlp);
  }
}

}  // namespace world_step_test
}  // namespace pagoda
