// M processes with N towers each equal one device with all samples. The processes are threads here.

#include "train/world_step.h"

#include <pagoda/train/async_step.h>
#include <pagoda/train/sync_step.h>

#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/world_golden.h"
#include "world/ranks.h"

namespace pagoda {
namespace world_step_test {

using testing::all_optimizers;
using testing::copies;
using testing::feeds_of;
using testing::GoldenRun;
using testing::in_double;
using testing::MeanSquare;
using testing::Mlp;
using testing::Towers;
using testing::whole;

using testing::borrowed;
using testing::own_feeds;

/// The same with CPU towers.
template <class MakeModel, class MakePlain>
void expect_world_equals_plain(const Towers& towers, const GoldenRun& run, MakeModel make_model,
                               MakePlain make_plain) {
  testing::expect_world_equals_plain(
      towers,
      [&](int rank) { return testing::cpu_devices(towers[static_cast<std::size_t>(rank)]); }, run,
      make_model, make_plain);
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
      [](GoldenRun& run) {
        run.feed_sizes = {0, 3, 0, 0, 5};
      }};
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
  for (const auto placement :
       {ParameterPlacement::mirrored, ParameterPlacement::host, ParameterPlacement::spread}) {
    expect_world_equals_plain({2, 1}, {.tower = {.placement = placement}}, make_mlp);
  }
}

TEST(WorldStepTest, SpreadOverProcessesEqualsOneDeviceWithEveryOption) {
  GoldenRun run;
  run.tower.placement = ParameterPlacement::spread;
  GoldenRun words = run;
  words.make_feed = testing::word_feed;
  run.step = {.max_grad_norm = 0.2, .l2 = 0.3, .moving_average = MovingAverage{.decay = 0.9}};
  for (const Towers& towers : worlds()) {
    for (const auto& optimizer : all_optimizers()) {
      SCOPED_TRACE(std::to_string(towers.size()) + " ranks, " + optimizer.name);
      run.optimizer = optimizer.options;
      expect_world_equals_plain(towers, run, make_mlp);
    }
  }
  expect_world_equals_plain(
      {1, 2}, words, [] { return in_double(testing::Words(true)); },
      [] { return in_double(testing::Words(false)); });
}

TEST(WorldStepTest, SpreadOverProcessesMakesTheSameBitsAsNotSpread) {
  std::vector<std::vector<at::Tensor>> found;
  for (const auto placement : {ParameterPlacement::shared, ParameterPlacement::spread}) {
    on_ranks(3, [&](World& world) {
      auto towers = make_towers(testing::cpu_devices(1), make_mlp, {.placement = placement});
      SyncStep step(towers, Adam{.learning_rate = 0.1},
                    {.max_grad_norm = 0.2, .world = borrowed(world)});
      for (int i = 0; i < 3; ++i)
        step.run(feeds_of(testing::vector_feed, {3}, 10 * i + world.rank()), MeanSquare());
      if (world.rank() == 0) found.push_back(copies(towers.master().trainable));
    });
  }
  EXPECT_TRUE(testing::all_equal(found[0], found[1]));
}

TEST(WorldStepTest, SpreadOverProcessesEachKeepsItsPartOfTheState) {
  constexpr std::int64_t kWidth = 1000;
  constexpr double kBytes = kWidth * kWidth * sizeof(float);
  for (const int ranks : {1, 2, 4}) {
    on_ranks(ranks, [&](World& world) {
      auto towers = make_towers(
          testing::cpu_devices(1),
          [] { return torch::nn::Linear(torch::nn::LinearOptions(kWidth, kWidth).bias(false)); },
          {.placement = ParameterPlacement::spread});
      const std::int64_t before = towers.memory().use(0).in_use;
      const SyncStep step(towers, Adam{}, {.world = borrowed(world)});  // two tensors of state
      const auto bytes = static_cast<double>(towers.memory().use(0).in_use - before);
      EXPECT_NEAR(bytes / kBytes, 2.0 / ranks, 0.05) << ranks << " ranks";
    });
  }
}

TEST(WorldStepTest, EveryKindOfModelEqualsOneDevice) {
  expect_world_equals_plain({1, 2, 1}, {}, [] { return in_double(testing::Branching()); });
  expect_world_equals_plain({1, 2}, {}, [] { return in_double(testing::Tied()); });
  expect_world_equals_plain({2, 1}, {.make_feed = testing::image_feed},
                            [] { return in_double(testing::Images()); });
}

TEST(WorldStepTest, RowsEqualOneDeviceWithADenseTable) {
  for (const auto& optimizer : all_optimizers()) {
    SCOPED_TRACE(optimizer.name);
    for (const auto& sizes : {std::vector<std::int64_t>{}, {3, 1, 4, 1, 5}, {2}}) {
      expect_world_equals_plain(
          {1, 2},
          {.optimizer = optimizer.options, .make_feed = testing::word_feed, .feed_sizes = sizes},
          [] { return in_double(testing::Words(true)); },
          [] { return in_double(testing::Words(false)); });
    }
  }
}

TEST(WorldStepTest, OnlyTouchedRowsTravel) {
  on_ranks(2, [](World& world) {
    constexpr int kRows = 100'000;
    constexpr int kLength = 16;
    auto towers = make_towers(testing::cpu_devices(1), [] {
      return torch::nn::Embedding(torch::nn::EmbeddingOptions(kRows, kLength).sparse(true));
    });
    const StepOptions options{.world = borrowed(world)};
    SyncStep step(towers, Sgd{.learning_rate = 0.1}, options);
    const Batch words{.input = torch::arange(3) + world.rank(), .target = torch::zeros({3})};
    step.run(std::vector<Batch>{words}, [](torch::nn::Embedding& table, const Batch& batch) {
      return table(batch.input).square().mean();
    });
    const std::int64_t rows = 3 * (kLength * sizeof(float) + sizeof(std::int32_t));
    EXPECT_LT(world.traffic().bytes, rows + 1000);
    EXPECT_GE(world.traffic().bytes, rows);
  });
}

TEST(WorldStepTest, BuffersBecomeThoseOfAllTowersOfAllRanks) {
  const Towers towers{2, 1};
  const std::vector<std::int64_t> sizes{2, 3, 5};
  const auto all = feeds_of(testing::vector_feed, sizes, 0);
  on_ranks(2, [&](World& world) {
    auto group =
        make_towers(testing::cpu_devices(towers[static_cast<std::size_t>(world.rank())]), [] {
          return in_double(
              torch::nn::BatchNorm1d(torch::nn::BatchNormOptions(testing::kInputs).momentum(0.1)));
        });
    const StepOptions options{.world = borrowed(world)};
    SyncStep step(group, Sgd{.learning_rate = 0}, options);
    step.run(own_feeds(all, towers, world.rank()),
             [](torch::nn::BatchNorm1d& norm, const Batch& batch) {
               return norm(batch.input).square().mean();
             });
    at::Tensor variance = torch::zeros(testing::kInputs, torch::kDouble);
    for (const Batch& feed : all)
      variance = variance + feed.input.var(0) * (feed.weight() / whole(all).weight());
    const auto& norm = group.model(group.size() - 1);
    EXPECT_TRUE(norm->running_mean.allclose(0.1 * whole(all).input.mean(0), 0, 1e-14));
    EXPECT_TRUE(norm->running_var.allclose(0.9 + 0.1 * variance, 0, 1e-14));
    EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), 1);
  });
}

/// One step on each of three ranks, in which rank `faulty` meets the fault; what each rank throws.
std::vector<std::string> failures(int faulty, const StepOptions& options,
                                  const std::function<void(Batch&)>& spoil) {
  std::vector<std::string> texts(3);
  on_ranks(3, [&](World& world) {
    auto towers = make_towers(testing::cpu_devices(2), make_mlp);
    const auto before = copies(towers.master().trainable);
    StepOptions own = world.rank() == faulty ? options : StepOptions{};
    own.on_non_finite = options.on_non_finite;
    own.world = borrowed(world);
    SyncStep step(towers, Sgd{.learning_rate = 0.1}, own);
    auto feeds = feeds_of(testing::vector_feed, {2, 2}, world.rank());
    if (world.rank() == faulty && spoil) spoil(feeds[1]);
    try {
      EXPECT_TRUE(step.run(feeds, MeanSquare()).skipped);
    } catch (const std::exception& error) {
      texts[static_cast<std::size_t>(world.rank())] = error.what();
    }
    EXPECT_TRUE(testing::all_equal(copies(towers.master().trainable), before));
  });
  return texts;
}

void make_nan(Batch& feed) { feed.input = torch::full_like(feed.input, NAN); }

TEST(WorldStepTest, ATowerThatFailsEndsTheStepOfEveryRankWithItsName) {
  for (int faulty = 0; faulty < 3; ++faulty) {
    for (const std::string phase : {"forward", "backward", "collect", "exchange"}) {
      const StepOptions options{.on_phase = [phase](const TowerJob& job) {
        if (job.tower == 0 && job.phase == phase) throw std::out_of_range("injected");
      }};
      for (const std::string& text : failures(faulty, options, nullptr)) {
        EXPECT_NE(text.find("tower 0 (cpu:0)"), std::string::npos) << phase << ": " << text;
        EXPECT_NE(text.find("injected"), std::string::npos) << text;
      }
    }
  }
}

TEST(WorldStepTest, ALossThatIsNotFiniteIsReportedByEveryRankWithItsPlace) {
  for (const std::string& text : failures(1, {}, make_nan)) {
    EXPECT_NE(text.find("rank 1 ("), std::string::npos) << text;
    EXPECT_NE(text.find("tower 1 (cpu:1), step 0: the loss is nan"), std::string::npos) << text;
  }
}

TEST(WorldStepTest, OrTheStepIsLeftOutOnAllOfThem) {
  for (const std::string& text : failures(2, {.on_non_finite = NonFinite::skip}, make_nan))
    EXPECT_EQ(text, "");
}

TEST(WorldStepTest, RefusesWhatIsOfOneProcess) {
  on_ranks(1, [](World& world) {
    const StepOptions options{.world = borrowed(world)};
    auto host =
        make_towers(testing::cpu_devices(2), make_mlp, {.placement = ParameterPlacement::host});
    EXPECT_THROW(AsyncStep(host, Sgd{}, options), UsageError);
    auto synced = make_towers(testing::cpu_devices(2), make_mlp, {.sync_batch_norm = true});
    EXPECT_THROW(SyncStep(synced, Sgd{}, options), UsageError);
  });
}

TEST(WorldStepTest, MoreMetricsThanTravelAreRefused) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(testing::cpu_devices(1), make_mlp);
    SyncStep step(towers, Sgd{}, {.world = borrowed(world)});
    const auto many = [](Mlp& model, const Batch& batch) {
      Scored scored{.loss = MeanSquare()(model, batch)};
      for (int i = 0; i < 33; ++i)
        scored.metrics.emplace_back("metric " + std::to_string(i), torch::ones({}));
      return scored;
    };
    EXPECT_THROW(step.run(feeds_of(testing::vector_feed, {2}, 0), many), Error);
  });
}

TEST(WorldStepTest, AStepWithoutASampleAnywhereIsRefusedByAll) {
  on_ranks(2, [](World& world) {
    const StepOptions options{.world = borrowed(world)};
    auto towers = make_towers(testing::cpu_devices(1), make_mlp);
    SyncStep step(towers, Sgd{}, options);
    EXPECT_THROW(step.run(std::vector<Batch>{}, MeanSquare()), UsageError);
  });
}

}  // namespace world_step_test
}  // namespace pagoda
