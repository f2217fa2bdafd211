#include <pagoda/data/batch.h>
#include <pagoda/train/bring_ahead.h>

#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/machines.h"
#include "support/small_models.h"

namespace pagoda {
namespace bring_ahead_test {

using testing::Machine;

constexpr int kSteps = 4;

/// Steps of three feeds, whose numbers say where they belong.
std::optional<StepFeeds<Batch>> make_step(std::int64_t number) {
  if (number == kSteps) return std::nullopt;
  StepFeeds<Batch> feeds;
  for (int i = 0; i < 3; ++i) {
    feeds.push_back({.input = torch::full({2, 3}, 10.0 * static_cast<double>(number) + i),
                     .target = torch::full({2}, i, torch::kLong)});
  }
  return feeds;
}

/// Until the next step's feeds are made.
void await_next(const StepFeeds<Batch>& feeds) {
  while (!feeds.ahead.lock()->is_ready()) std::this_thread::yield();
}

TEST(BringAheadTest, TheNextStepsFeedsAreOnTheirCardsBeforeTheyAreAskedFor) {
  const TowerGroup towers(Machine(2, testing::kCardKind).devices(),
                          testing::make_module<testing::MlpImpl>);
  FeedStream<Batch> stream(make_step, 2, 2);
  int steps = 0;
  while (const StepFeeds<Batch>* feeds = stream.next()) {
    for (std::size_t i = 0; i < feeds->size(); ++i) {
      const Batch& feed = (*feeds)[i];
      const int tower = static_cast<int>(i % 2);
      const at::Device expected = steps > 0 ? towers.device(tower).torch_device() : at::kCPU;
      EXPECT_EQ(feed.input.device(), expected);
      EXPECT_EQ(feed.target.device(), expected);
      const int number = static_cast<int>(i);
      const at::Tensor input = towers.on_tower(feed.input, tower);
      EXPECT_TRUE(input.eq(10 * steps + number).all().item<bool>());
      EXPECT_EQ(towers.on_tower(feed.target, tower).sum().item<std::int64_t>(), 2 * number);
    }
    ++steps;
    await_next(*feeds);
    detail::bring_ahead(*feeds, towers);
    detail::bring_ahead(*feeds, towers);  // once is enough
  }
  EXPECT_EQ(steps, kSteps);
}

TEST(BringAheadTest, CpuTowersReadFeedsWhereTheyAre) {
  const TowerGroup towers(Machine(2).devices(), testing::make_module<testing::MlpImpl>);
  FeedStream<Batch> stream(make_step, 1, 2);
  const StepFeeds<Batch>* feeds = stream.next();
  await_next(*feeds);
  detail::bring_ahead(*feeds, towers);
  feeds = stream.next();
  EXPECT_TRUE((*feeds)[1].input.is_cpu());
  EXPECT_FALSE((*feeds)[1].input.is_pinned());
}

TEST(BringAheadTest, AFeedThatCannotBeMadeFailsAtItsOwnStep) {
  const TowerGroup towers(Machine(1, testing::kCardKind).devices(),
                          testing::make_module<testing::MlpImpl>);
  FeedStream<Batch> stream(
      [](std::int64_t number) {
        if (number == 1) throw DataError("broken");
        return make_step(number);
      },
      1, 2);
  const StepFeeds<Batch>* feeds = stream.next();
  await_next(*feeds);
  detail::bring_ahead(*feeds, towers);
  EXPECT_THROW(stream.next(), DataError);
}

TEST(BringAheadTest, WithoutRoomOnTheCardFeedsStayWhereTheyAre) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const testing::OtherSimMachine machine(1, {.card = {.memory_bytes = 4000}});
  const TowerGroup towers(machine.devices(), [](int) { return torch::nn::Linear(2, 2).ptr(); });
  FeedStream<Batch> stream(
      [](std::int64_t number) -> std::optional<StepFeeds<Batch>> {
        StepFeeds<Batch> feeds;
        feeds.push_back(
            {.input = torch::zeros({number == 0 ? 1 : 2000}), .target = torch::ones({1})});
        return feeds;
      },
      1, 2);
  const StepFeeds<Batch>* feeds = stream.next();
  await_next(*feeds);
  detail::bring_ahead(*feeds, towers);
  feeds = stream.next();
  EXPECT_TRUE((*feeds)[0].input.is_cpu());
  EXPECT_FALSE((*feeds)[0].target.is_cpu());
}

}  // namespace bring_ahead_test
}  // namespace pagoda
