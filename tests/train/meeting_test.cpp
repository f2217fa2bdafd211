// Processes that train on their own and meet. They are threads here.

#include "train/meeting.h"

#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/golden.h"
#include "world/ranks.h"

namespace pagoda {
namespace meeting_test {

using testing::all_equal;
using testing::copies;
using testing::cpu_devices;
using testing::feeds_of;
using testing::in_double;
using testing::largest_difference;
using testing::MeanSquare;
using testing::Mlp;
using testing::PlainTraining;

std::shared_ptr<World> borrowed(World& world) {
  return {&world, [](World*) {}};
}

Mlp make_mlp() { return in_double(Mlp()); }

std::vector<Batch> feeds(int rank, int step) {
  return feeds_of(testing::vector_feed, {3, 2}, 10 * step + rank);
}

/// Every rank's mean of its own values.
std::vector<at::Tensor> mean_over(World& world, const std::vector<at::Tensor>& own) {
  std::vector<at::Tensor> means;
  for (const at::Tensor& one : own) {
    at::Tensor mean = torch::zeros_like(one);
    for (const at::Tensor& other : world.gather_equal(one)) mean += other / world.size();
    means.push_back(mean);
  }
  return means;
}

struct Size {
  int ranks;
  int overlap;
};
void PrintTo(const Size& size, std::ostream* out) {
  *out << size.ranks << "_ranks_overlap_" << size.overlap;
}

class MeetingTest : public ::testing::TestWithParam<Size> {};
INSTANTIATE_TEST_SUITE_P(Ranks, MeetingTest,
                         ::testing::Values(Size{1, 0}, Size{2, 0}, Size{3, 0}, Size{1, 1},
                                           Size{2, 1}, Size{3, 2}));

TEST_P(MeetingTest, MovesByTheMeanOfWhatEachHasDoneAlone) {
  constexpr int kEvery = 3;
  constexpr double kRate = 0.7;
  constexpr double kMomentum = 0.9;
  const int overlap = GetParam().overlap;
  on_ranks(GetParam().ranks, [&](World& world) {
    auto towers = make_towers(cpu_devices(2), make_mlp);
    auto plain_model = make_mlp();
    testing::copy_values(towers, *plain_model);
    const Sgd sgd{.learning_rate = 0.1};
    SyncStep step(towers, sgd,
                  {.world = borrowed(world),
                   .local_steps = {.every = kEvery,
                                   .outer_rate = kRate,
                                   .outer_momentum = kMomentum,
                                   .overlap = overlap}});
    std::vector<at::Tensor> last = copies(towers.master().trainable);
    std::vector<at::Tensor> momentum(last.size()), sent, means;
    PlainTraining plain(plain_model, sgd, {});
    for (int i = 0; i < 4 * kEvery; ++i) {
      const auto own = feeds(world.rank(), i);
      const StepResult result = step.run(own, MeanSquare());
      EXPECT_NEAR(result.loss, plain.step(testing::whole(own)), testing::kGoldenTolerance) << i;
      torch::NoGradGuard no_grad;
      if ((i + 1) % kEvery == 0) {
        sent.clear();
        std::vector<at::Tensor> moves;
        for (std::size_t p = 0; p < last.size(); ++p) {
          sent.push_back(plain.parameters()[p].detach().clone());
          moves.push_back(last[p] - sent[p]);
        }
        means = mean_over(world, moves);
      }
      if (sent.empty() || (i + 1) % kEvery != overlap) continue;
      for (std::size_t p = 0; p < last.size(); ++p) {
        momentum[p] = momentum[p].defined() ? kMomentum * momentum[p] + means[p] : means[p];
        last[p] = last[p] - kRate * (means[p] + kMomentum * momentum[p]);
        plain_model->parameters()[p].add_(last[p] - sent[p]);  // with what was done since
      }
      const auto found = copies(towers.master().trainable);
      EXPECT_LT(largest_difference(found, plain.parameters()), testing::kGoldenTolerance);
      for (const at::Tensor& one : found) {
        for (const at::Tensor& other : world.gather_equal(one))
          EXPECT_TRUE(overlap > 0 || other.equal(one));
      }
    }
  });
}

TEST(MeetingStepTest, NothingTravelsBetweenTwoMeetings) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(1), make_mlp);
    SyncStep step(towers, Sgd{.learning_rate = 0.1},
                  {.world = borrowed(world), .local_steps = {.every = 4}});
    for (int i = 0; i < 8; ++i) {
      const std::int64_t before = world.traffic().exchanges;
      step.run(feeds(world.rank(), i), MeanSquare());
      EXPECT_EQ(world.traffic().exchanges > before, i % 4 == 3) << i;
    }
  });
}

TEST(MeetingStepTest, AStepMayEndWhileMovesTravel) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(1), make_mlp);
    {
      SyncStep step(towers, Sgd{.learning_rate = 0.1},
                    {.world = borrowed(world), .local_steps = {.every = 2, .overlap = 1}});
      for (int i = 0; i < 2; ++i) step.run(feeds(world.rank(), i), MeanSquare());
    }
    world.barrier();  // nothing of it is in the way of what follows
  });
}

TEST(MeetingStepTest, ARankThatFailsWhileMovesTravelIsNamedByTheOthers) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(1), make_mlp);
    SyncStep step(towers, Sgd{.learning_rate = 0.1},
                  {.world = borrowed(world), .local_steps = {.every = 3, .overlap = 2}});
    const auto train = [&](int number) {
      step.run(feeds(world.rank(), number), [&](Mlp& model, const Batch& batch) {
        if (world.rank() == 1 && number == 3) throw std::out_of_range("injected");
        return MeanSquare()(model, batch);
      });
    };
    std::string text;
    try {
      for (int i = 0; i < 6; ++i) train(i);
    } catch (const std::exception& error) {
      text = error.what();
    }
    EXPECT_NE(text.find("injected"), std::string::npos) << text;
    EXPECT_EQ(text.find("rank 1 (") != std::string::npos, world.rank() == 0) << text;
  });
}

TEST(MeetingStepTest, BeforeStateIsReadAllMeetAndTakeTheMeanOfTheirOptimizers) {
  for (const auto& optimizer : testing::all_optimizers()) {
    SCOPED_TRACE(optimizer.name);
    on_ranks(2, [&](World& world) {
      auto towers = make_towers(cpu_devices(1), make_mlp);
      SyncStep step(towers, optimizer.options,
                    {.moving_average = MovingAverage{.decay = 0.9},
                     .world = borrowed(world),
                     .local_steps = {.every = 100}});
      for (int i = 0; i < 3; ++i) step.run(feeds(world.rank(), i), MeanSquare());
      std::vector<at::Tensor> own;
      for (const auto& [name, tensor] : step.updater().state().optimizer) {
        if (tensor.is_floating_point()) own.push_back(tensor.contiguous());
      }
      const auto means = mean_over(world, own);
      step.finish();
      std::vector<at::Tensor> found;
      for (const auto& [name, tensor] : step.updater().state().optimizer) {
        if (tensor.is_floating_point()) found.push_back(tensor);
      }
      EXPECT_LT(largest_difference(found, means), testing::kGoldenTolerance);
      const std::int64_t before = world.traffic().exchanges;
      step.finish();  // nobody has moved since
      EXPECT_EQ(world.traffic().exchanges, before);
    });
  }
}

/// How processes exchange in a run that is stopped and resumed.
struct Way {
  const char* name;
  WireType wire;
  int every;
  std::optional<ParameterPlacement> placement = std::nullopt;
  int overlap = 0;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class ResumedExchangeTest : public ::testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(
    Ways, ResumedExchangeTest,
    ::testing::Values(Way{"bf16", WireType::bf16, 1}, Way{"fp16", WireType::fp16, 1},
                      Way{"meetings", WireType::fp32, 3}, Way{"meetings_bf16", WireType::bf16, 3},
                      Way{"just_met", WireType::fp32, 5},
                      Way{"overlap", WireType::fp32, 3, std::nullopt, 2},
                      Way{"overlap_bf16", WireType::bf16, 4, std::nullopt, 2},
                      Way{"just_sent", WireType::fp32, 5, std::nullopt, 1},
                      Way{"spread", WireType::fp32, 1, ParameterPlacement::spread},
                      Way{"spread_fp16", WireType::fp16, 1, ParameterPlacement::spread}));

TEST_P(ResumedExchangeTest, ARunThatGoesOnFromACheckpointHasTheSameBits) {
  constexpr int kRanks = 3;
  std::mutex mutex;
  Checkpoint middle;
  std::vector<at::Tensor> uninterrupted;
  const auto train = [&](World& world, bool resumes) {
    auto towers = make_towers(cpu_devices(1), [] { return testing::Mlp(); },
                              {.placement = GetParam().placement});
    SyncStep step(towers, Adam{.learning_rate = 0.01},
                  {.moving_average = MovingAverage{.decay = 0.9},
                   .world = borrowed(world),
                   .wire = GetParam().wire,
                   .local_steps = {.every = GetParam().every, .overlap = GetParam().overlap}});
    EXPECT_TRUE(step.shares_state());
    if (resumes) restore(middle, towers, step);
    for (int i = static_cast<int>(step.count()); i < 9; ++i) {
      auto own = feeds(world.rank(), i);
      for (Batch& feed : own) {
        feed.input = feed.input.to(at::kFloat);
        feed.target = feed.target.to(at::kFloat);
      }
      step.run(own, MeanSquare());
      if (i != 4) continue;
      const Checkpoint taken = snapshot(towers, step, {.step = step.count()}, "");
      const std::lock_guard lock(mutex);
      if (!resumes && world.rank() == 0) middle = taken;
    }
    step.finish();
    const auto found = copies(towers.master().trainable);
    const std::lock_guard lock(mutex);
    if (!resumes && world.rank() == 0) uninterrupted = found;
    if (resumes) {
      EXPECT_TRUE(all_equal(found, uninterrupted));
    }
  };
  on_ranks(kRanks, [&](World& world) { train(world, false); });
  on_ranks(kRanks, [&](World& world) { train(world, true); });
}

TEST(MeetingStepTest, BuffersBecomeTheMeanOfAll) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(1), [] {
      return in_double(torch::nn::BatchNorm1d(torch::nn::BatchNormOptions(testing::kInputs)));
    });
    SyncStep step(towers, Sgd{.learning_rate = 0},
                  {.world = borrowed(world), .local_steps = {.every = 2}});
    at::Tensor expected = torch::zeros({testing::kInputs}, at::kDouble);
    for (int i = 0; i < 2; ++i) {
      for (int rank = 0; rank < 2; ++rank) {
        at::Tensor mean = feeds(rank, i)[0].input.mean(0);
        expected += 0.5 * 0.1 * (i == 0 ? 0.9 : 1.0) * mean;
      }
      step.run(std::vector<Batch>{feeds(world.rank(), i)[0]},
               [](torch::nn::BatchNorm1d& norm, const Batch& batch) {
                 return norm(batch.input).square().mean();
               });
    }
    EXPECT_TRUE(towers.model(0)->running_mean.allclose(expected, 0, 1e-14));
    EXPECT_EQ(towers.model(0)->num_batches_tracked.item<std::int64_t>(), 2);
  });
}

TEST(MeetingStepTest, AWishToStopIsAgreedOnWhenAllMeet) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(1), make_mlp);
    SyncStep step(towers, Sgd{.learning_rate = 0.1},
                  {.world = borrowed(world), .local_steps = {.every = 2}});
    if (world.rank() == 1) world.ask_to_stop(2);
    step.run(feeds(world.rank(), 0), MeanSquare());
    EXPECT_EQ(world.agreed_to_stop(), 0);
    step.run(feeds(world.rank(), 1), MeanSquare());
    EXPECT_EQ(world.agreed_to_stop(), 2);
  });
}

TEST(MeetingStepTest, AProcessWhoseDataIsUsedUpStillMeets) {
  on_ranks(2, [](World& world) {
    auto towers = make_towers(cpu_devices(2), make_mlp);
    SyncStep step(towers, Sgd{.learning_rate = 0.1},
                  {.world = borrowed(world), .local_steps = {.every = 2}});
    for (int i = 0; i < 2; ++i) {
      const auto own = world.rank() == 0 ? feeds(0, i) : std::vector<Batch>{};
      EXPECT_EQ(step.run(own, MeanSquare()).weight, world.rank() == 0 ? 5 : 0);
      EXPECT_EQ(step.take_others_weight(), i == 1 && world.rank() == 1 ? 10 : 0);
    }
    for (const at::Tensor& one : copies(towers.master().trainable)) {
      for (const at::Tensor& other : world.gather_equal(one)) EXPECT_TRUE(other.equal(one));
    }
  });
}

TEST(MeetingStepTest, RefusesWhatCannotBe) {
  on_ranks(1, [](World& world) {
    auto towers = make_towers(cpu_devices(1), make_mlp);
    for (const LocalSteps& wrong :
         {LocalSteps{.every = 0}, LocalSteps{.every = 2, .outer_rate = 0},
          LocalSteps{.every = 2, .outer_momentum = 1}, LocalSteps{.every = 2, .overlap = 2},
          LocalSteps{.every = 2, .overlap = -1}, LocalSteps{.overlap = 1}}) {
      EXPECT_THROW(SyncStep(towers, Sgd{}, {.world = borrowed(world), .local_steps = wrong}),
                   UsageError);
    }
    torch::optim::SGD optimizer(towers.model(0)->parameters(), 0.1);
    EXPECT_THROW(
        SyncStep(towers, optimizer, {.world = borrowed(world), .local_steps = {.every = 2}}),
        UsageError);
  });
}

}  // namespace meeting_test
}  // namespace pagoda
