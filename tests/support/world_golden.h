#pragma once

// M processes, which are threads here, beside one device with all samples.

#include <pagoda/train/sync_step.h>

#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "world/ranks.h"

namespace pagoda::testing {

using Towers = std::vector<int>;  // by rank

inline std::shared_ptr<World> borrowed(World& world) {
  return {&world, [](World*) {}};
}

/// The feeds of a rank, when all towers of all ranks take turns.
inline std::vector<Batch> own_feeds(const std::vector<Batch>& all, const Towers& towers, int rank) {
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
void expect_world_equals_plain(const Towers& towers,
                               const std::function<std::vector<Device>(int rank)>& devices,
                               GoldenRun run, MakeModel make_model, MakePlain make_plain) {
  if (run.feed_sizes.empty())
    run.feed_sizes.assign(std::accumulate(towers.begin(), towers.end(), std::size_t{0}), 3);
  std::mutex mutex;
  std::vector<at::Tensor> first;
  on_ranks(static_cast<int>(towers.size()), [&](World& world) {
    const int rank = world.rank();
    auto group = make_towers(devices(rank), make_model, run.tower);
    auto plain_model = make_plain();
    copy_values(group, *plain_model);
    StepOptions options = run.step;
    options.world = borrowed(world);
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
    EXPECT_TRUE(all_equal(found, first)) << "another rank has other bits";
  });
}

}  // namespace pagoda::testing
