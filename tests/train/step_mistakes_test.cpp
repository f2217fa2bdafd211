// Mistakes that would train nothing, or something else than meant, without a word.

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/async_fixtures.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace step_mistakes_test {

using testing::all_equal;
using testing::copies;
using testing::feeds_of;
using testing::Machine;
using testing::make_mlp;
using testing::MeanSquare;
using testing::message_of;
using testing::Mlp;
using testing::vector_feed;

/// A loss that was cut off from the model, in each of the ways that people do it.
struct DetachedLoss {
  enum class How { detach, no_grad, constant } how;

  at::Tensor operator()(Mlp& model, const Batch& batch) const {
    if (how == How::constant) return torch::full({}, 0.25);
    at::AutoGradMode grad(how != How::no_grad);
    const at::Tensor loss = MeanSquare()(model, batch);
    return how == How::detach ? loss.detach() : loss;
  }
};

TEST(StepMistakesTest, ALossWithoutAGraphIsRefusedByEveryStep) {
  using How = DetachedLoss::How;
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
    for (const How how : {How::detach, How::no_grad, How::constant}) {
      auto towers = testing::host_towers(Machine(2, kind), make_mlp);
      const auto before = copies(towers.master().trainable);
      const auto feeds = feeds_of(vector_feed, {2, 3}, 0);
      SyncStep step(towers, Sgd{});
      const std::string text = message_of<UsageError>([&] { step.run(feeds, DetachedLoss{how}); });
      EXPECT_NE(text.find("would learn nothing"), std::string::npos) << text;
      EXPECT_EQ(step.count(), 0);
      EXPECT_EQ(step.run(feeds, MeanSquare()).step, 0) << "a step that is right goes on";

      AsyncStep other(towers, Sgd{});
      EXPECT_THROW(
          {
            other.run(feeds, DetachedLoss{how});
            other.finish();
          },
          UsageError);
    }
  }
}

/// A feed whose weight is whatever its user says.
struct WeighedBatch : Batch {
  double said = 1;
  double weight() const { return said; }
  template <class Change>
  WeighedBatch with_tensors(Change change) const {
    return {Batch::with_tensors(change), said};
  }
};

TEST(StepMistakesTest, AFeedsWeightIsANumberFromZeroOn) {
  auto towers = make_towers(testing::cpu_devices(2), make_mlp);
  SyncStep step(towers, Sgd{});
  const auto loss = [](Mlp& model, const WeighedBatch& batch) {
    return MeanSquare()(model, batch);
  };
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<WeighedBatch> feeds = {{vector_feed(0, 2), 3}, {vector_feed(2, 2), wrong}};
    const std::string text = message_of<UsageError>([&] { step.run(feeds, loss); });
    EXPECT_NE(text.find("feed 1: its weight is"), std::string::npos) << text;
  }
  EXPECT_THROW(step.set_count(-1), UsageError);
}

TEST(StepMistakesTest, NothingElseHappensWhileAveragesStandInForTheParameters) {
  auto towers = make_towers(testing::cpu_devices(2), make_mlp);
  SyncStep step(towers, Adam{.learning_rate = 0.1},
                {.moving_average = MovingAverage{.decay = 0.5}});
  const auto feeds = feeds_of(vector_feed, {2, 3}, 0);
  step.run(feeds, MeanSquare());
  const Checkpoint good = snapshot(towers, step, {}, "");
  {
    const AveragedParameters averaged(towers, step);
    for (const std::string& text :
         {message_of<UsageError>([&] { snapshot(towers, step, {}, ""); }),
          message_of<UsageError>([&] { restore(good, towers, step); }),
          message_of<UsageError>([&] { step.run(feeds, MeanSquare()); })}) {
      EXPECT_NE(text.find("moving average stands in"), std::string::npos) << text;
    }
    const AveragedParameters again(towers, step);
  }
  EXPECT_TRUE(all_equal(copies(snapshot(towers, step, {}, "").model), copies(good.model)));
  EXPECT_EQ(step.run(feeds, MeanSquare()).step, 1);
}

TEST(StepMistakesTest, OtherStepsWaitUntilAnAsynchronousOneHasFinished) {
  auto towers = testing::host_towers(Machine(2), make_mlp);
  AsyncStep step(towers, Sgd{});
  SyncStep other(towers, Sgd{});
  const auto feeds = feeds_of(vector_feed, {2, 3}, 0);
  step.run(feeds, MeanSquare());
  const std::string text = message_of<UsageError>([&] { other.run(feeds, MeanSquare()); });
  EXPECT_NE(text.find("finish()"), std::string::npos) << text;
  EXPECT_THROW(snapshot(towers, other, {}, ""), UsageError);
  step.finish();
  EXPECT_EQ(other.run(feeds, MeanSquare()).step, 0);
}

TEST(StepMistakesTest, ASeedOfAllBitsSurvivesACheckpoint) {
  const std::uint64_t seed = std::numeric_limits<std::uint64_t>::max() - 1;
  auto towers = make_towers(testing::cpu_devices(1), make_mlp, {.seed = seed});
  SyncStep step(towers, Sgd{});
  const testing::ScratchDirectory scratch;
  write_checkpoint(snapshot(towers, step, {}, ""), scratch / "seed.pt");
  EXPECT_EQ(read_checkpoint(scratch / "seed.pt").seed, seed);
}

TEST(StepMistakesTest, ATowersTimeIsPositive) {
  for (const int wrong : {0, -1}) {
    EXPECT_THROW(make_towers(testing::cpu_devices(1), make_mlp,
                             {.timeout = std::chrono::milliseconds(wrong)}),
                 UsageError);
  }
}

}  // namespace step_mistakes_test
}  // namespace pagoda
