// Cards of several processes, which are threads here, sum gradients among themselves: simulated cards
// do through memory what NCCL does.

#include <pagoda/train/sync_step.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/machines.h"
#include "support/world_golden.h"
#include "train/world_step.h"

namespace pagoda {
namespace world_step_cards_test {

using testing::borrowed;
using testing::feeds_of;
using testing::GoldenRun;
using testing::in_double;
using testing::MeanSquare;
using testing::Mlp;
using testing::Towers;

/// Cards of its own for each rank.
std::vector<Device> cards_of(const Towers& towers, int rank) {
  const auto all = testing::first_cards(std::accumulate(towers.begin(), towers.end(), 0));
  const auto first = all.begin() + std::accumulate(towers.begin(), towers.begin() + rank, 0);
  return {first, first + towers[static_cast<std::size_t>(rank)]};
}

template <class MakeModel, class MakePlain>
void expect_cards_equal_plain(const Towers& towers, GoldenRun run, MakeModel make_model,
                              MakePlain make_plain) {
  run.tower.placement = ParameterPlacement::mirrored;
  testing::expect_world_equals_plain(
      towers, [&](int rank) { return cards_of(towers, rank); }, run, make_model, make_plain);
}

Mlp make_mlp() { return in_double(Mlp()); }

const std::vector<Towers>& worlds() {
  static const std::vector<Towers> all{{1, 1}, {2, 2}, {1, 3}, {1, 1, 2}, {1, 1, 1, 1}};
  return all;
}

TEST(WorldStepCardsTest, RanksTimesCardsEqualOneDeviceWithEveryOption) {
  const std::vector<std::function<void(GoldenRun&)>> features{
      [](GoldenRun&) {}, [](GoldenRun& run) { run.step.max_grad_norm = 0.05; },
      [](GoldenRun& run) {
        run.feed_sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // accumulation, uneven
        run.step = {.max_grad_norm = 0.2, .l2 = 0.3, .moving_average = MovingAverage{.decay = 0.9}};
      },
      [](GoldenRun& run) { run.feed_sizes = {5}; },  // only one card of all has work
      [](GoldenRun& run) {
        run.feed_sizes = {0, 3, 0, 0, 5};
      }};
  for (const Towers& towers : worlds()) {
    for (std::size_t i = 0; i < features.size(); ++i) {
      SCOPED_TRACE(std::to_string(towers.size()) + " ranks, feature " + std::to_string(i));
      GoldenRun run{.optimizer = Adam{.learning_rate = 0.02}, .steps = 3};
      features[i](run);
      expect_cards_equal_plain(towers, run, make_mlp, make_mlp);
    }
  }
}

TEST(WorldStepCardsTest, EveryOptimizerAndKindOfModelEqualsOneDevice) {
  for (const auto& optimizer : testing::all_optimizers()) {
    SCOPED_TRACE(optimizer.name);
    expect_cards_equal_plain({1, 2}, {.optimizer = optimizer.options}, make_mlp, make_mlp);
  }
  const auto branching = [] { return in_double(testing::Branching()); };
  expect_cards_equal_plain({1, 2, 1}, {}, branching, branching);
  for (const auto& sizes : {std::vector<std::int64_t>{}, {3, 1, 4, 1, 5}, {2}}) {  // rows travel
    expect_cards_equal_plain(
        {2, 1}, {.make_feed = testing::word_feed, .feed_sizes = sizes},
        [] { return in_double(testing::Words(true)); },
        [] { return in_double(testing::Words(false)); });
  }
}

/// Bytes that a step of two ranks with a card each sends by the World, beside one gradient's.
double sent_part(const StepOptions& options, ParameterPlacement placement) {
  constexpr std::int64_t kWidth = 300;
  std::vector<double> sent(2);
  on_ranks(2, [&](World& world) {
    auto towers = make_towers(
        cards_of({1, 1}, world.rank()),
        [] { return torch::nn::Linear(torch::nn::LinearOptions(kWidth, kWidth).bias(false)); },
        {.placement = placement});
    StepOptions own = options;
    own.world = borrowed(world);
    SyncStep step(towers, Sgd{.learning_rate = 0.1}, own);
    const Batch feed{.input = torch::ones({2, kWidth}), .target = torch::zeros({2})};
    const std::int64_t before = world.traffic().bytes;
    step.run(std::vector<Batch>{feed}, [](torch::nn::Linear& model, const Batch& batch) {
      return model(batch.input).square().mean();
    });
    sent[static_cast<std::size_t>(world.rank())] =
        static_cast<double>(world.traffic().bytes - before);
  });
  return (sent[0] + sent[1]) / 2 / static_cast<double>(kWidth * kWidth * sizeof(float));
}

TEST(WorldStepCardsTest, GradientsGoOverTheLinkOfTheCardsWhereTheyTravelAsTheyAre) {
  EXPECT_LT(sent_part({}, ParameterPlacement::mirrored), 0.01);
  EXPECT_NEAR(sent_part({.wire = WireType::bf16}, ParameterPlacement::mirrored), 0.5, 0.01);
  EXPECT_NEAR(sent_part({}, ParameterPlacement::host), 1, 0.01);
  EXPECT_NEAR(sent_part({}, ParameterPlacement::spread), 1, 0.01);
}

TEST(WorldStepCardsTest, ProcessesThatMeetSeldomDoWhatThoseOfCpuTowersDo) {
  const Towers towers{2, 2};
  std::vector<std::vector<at::Tensor>> found;
  for (const bool on_cards : {false, true}) {
    on_ranks(2, [&](World& world) {
      const auto devices =
          on_cards ? cards_of(towers, world.rank()) : testing::cpu_devices(towers.front());
      auto group = make_towers(devices, make_mlp, {.placement = ParameterPlacement::mirrored});
      SyncStep step(group, Adam{.learning_rate = 0.02},
                    {.world = borrowed(world), .local_steps = {.every = 2}});
      for (int i = 0; i < 5; ++i)
        step.run(feeds_of(testing::vector_feed, {2, 3}, 10 * i + world.rank()), MeanSquare());
      step.finish();
      if (world.rank() == 0) found.push_back(testing::copies(group.master().trainable));
    });
  }
  EXPECT_LT(testing::largest_difference(found[0], found[1]), testing::kGoldenTolerance);
}

/// Two steps on each of three ranks, of which rank `faulty` meets a fault in the first; what each
/// rank throws.
std::vector<std::string> failures(int faulty, const StepOptions& options, bool spoils) {
  const Towers towers{1, 2, 1};
  std::vector<std::string> texts(3);
  on_ranks(3, [&](World& world) {
    auto group = make_towers(cards_of(towers, world.rank()), make_mlp,
                             {.placement = ParameterPlacement::mirrored});
    const bool is_faulty = world.rank() == faulty;
    StepOptions own = is_faulty ? options : StepOptions{};
    own.on_non_finite = options.on_non_finite;
    own.world = borrowed(world);
    SyncStep step(group, Sgd{.learning_rate = 0.1}, own);
    try {
      for (int i = 0; i < 2; ++i) {
        auto feeds = feeds_of(testing::vector_feed,
                              std::vector<std::int64_t>(static_cast<std::size_t>(group.size()), 2),
                              10 * i + world.rank());
        if (is_faulty && spoils && i == 0) feeds[0].input = torch::full_like(feeds[0].input, NAN);
        EXPECT_EQ(step.run(feeds, MeanSquare()).skipped, spoils && i == 0);
      }
    } catch (const std::exception& error) {
      texts[static_cast<std::size_t>(world.rank())] = error.what();
    }
  });
  return texts;
}

TEST(WorldStepCardsTest, ACardThatFailsEndsTheStepOfEveryRankWithItsName) {
  for (int faulty = 0; faulty < 3; ++faulty) {
    for (const std::string phase : {"forward", "backward", "collect", "exchange"}) {
      const StepOptions options{.on_phase = [phase](const TowerJob& job) {
        if (job.tower == 0 && job.phase == phase) throw std::out_of_range("injected");
      }};
      const std::vector<std::string> texts = failures(faulty, options, false);
      for (int rank = 0; rank < 3; ++rank) {
        const std::string& text = texts[static_cast<std::size_t>(rank)];
        EXPECT_NE(text.find("injected"), std::string::npos) << phase << ": " << text;
        if (rank != faulty) {
          EXPECT_NE(text.find("rank " + std::to_string(faulty) + " ("), std::string::npos) << text;
        }
      }
    }
  }
}

TEST(WorldStepCardsTest, AStepThatIsNotFiniteIsLeftOutOnAllOfThemAndTheNextIsNot) {
  for (const std::string& text : failures(2, {.on_non_finite = NonFinite::skip}, true))
    EXPECT_EQ(text, "");
}

TEST(WorldStepCardsTest, ARankThatEndsBetweenStepsLetsTheCardsOfTheOthersGo) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cards_of({1, 1}, world.rank()), make_mlp,
                              {.placement = ParameterPlacement::mirrored});
    SyncStep step(towers, Sgd{.learning_rate = 0.1}, {.world = borrowed(world)});
    if (world.rank() == 1) return world.fail("no more data");
    const std::string text =
        failure_of([&] { step.run(feeds_of(testing::vector_feed, {2}, 0), MeanSquare()); });
    EXPECT_NE(text.find("rank 1 ("), std::string::npos) << text;
    EXPECT_NE(text.find("no more data"), std::string::npos) << text;
  });
}

}  // namespace world_step_cards_test
}  // namespace pagoda
