// Two steps with optimizers of their own over the same towers, as a GAN has them.

#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"

namespace pagoda {
namespace two_steps_test {

using namespace pagoda::testing;

struct GanImpl : torch::nn::Module {
  at::Tensor fake(const at::Tensor& noise) { return torch::tanh(generator(noise)); }
  at::Tensor judged(const at::Tensor& x) { return judge(torch::tanh(norm(first(x)))); }

  torch::nn::Linear generator = register_module("generator", torch::nn::Linear(kInputs, kOutputs));
  // Without a bias, whose gradient before a BatchNorm is zero but for rounding.
  torch::nn::Linear first = register_module(
      "discriminator_first", torch::nn::Linear(torch::nn::LinearOptions(kOutputs, 5).bias(false)));
  torch::nn::BatchNorm1d norm = register_module("discriminator_norm", torch::nn::BatchNorm1d(5));
  torch::nn::Linear judge = register_module("discriminator_judge", torch::nn::Linear(5, 1));
};
TORCH_MODULE(Gan);

Gan make_gan() { return in_double(Gan()); }

struct JudgeLoss {
  at::Tensor operator()(Gan& gan, const Batch& batch) const {
    const at::Tensor fake = gan->fake(batch.input).detach();
    return torch::softplus(gan->judged(fake)).mean() +
           torch::softplus(-gan->judged(batch.target)).mean();
  }
};

struct GeneratorLoss {
  at::Tensor operator()(Gan& gan, const Batch& batch) const {
    return torch::softplus(-gan->judged(gan->fake(batch.input))).mean();
  }
};

const std::vector<ParameterRule> kGenerator = {{.names = "discriminator*", .frozen = true}};
const std::vector<ParameterRule> kDiscriminator = {{.names = "generator.*", .frozen = true}};

struct Training {
  Training(const PlacedMachine& placed, NonFinite on_non_finite = NonFinite::stop)
      : towers(make_towers(placed.machine.devices(), make_gan,
                           {.seed = 11, .placement = placed.placement})),
        discriminator(towers, Adam{.learning_rate = 0.02},
                      {.parameter_rules = kDiscriminator, .on_non_finite = on_non_finite}),
        generator(towers, Sgd{.learning_rate = 0.1, .momentum = 0.5},
                  {.parameter_rules = kGenerator,
                   .moving_average = MovingAverage{.decay = 0.9},
                   .on_non_finite = on_non_finite}) {}

  void run(int from, int to) {
    for (int i = from; i < to; ++i) {
      const auto feeds = feeds_of(vector_feed, {4}, i);
      discriminator.run(feeds, JudgeLoss());
      generator.run(feeds, GeneratorLoss());
    }
  }
  std::vector<at::Tensor> tensors() const { return testing::snapshot(towers); }

  Towers<Gan> towers;
  SyncStep<Gan> discriminator;
  SyncStep<Gan> generator;
};

class TwoStepsTest : public ::testing::TestWithParam<PlacedMachine> {};
INSTANTIATE_TEST_SUITE_P(Towers, TwoStepsTest, ::testing::ValuesIn(few_placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(TwoStepsTest, AlternatingOnTowersEqualsLibTorchWithTwoOptimizers) {
  Training training(GetParam());
  Gan plain = make_gan();
  copy_values(training.towers, *plain);
  std::vector<at::Tensor> judge;
  for (const auto& entry : plain->named_parameters()) {
    if (entry.key().starts_with("discriminator")) judge.push_back(entry.value());
  }
  torch::optim::Adam of_judge(judge, torch::optim::AdamOptions(0.02));
  torch::optim::SGD of_generator(plain->generator->parameters(),
                                 torch::optim::SGDOptions(0.1).momentum(0.5));
  training.run(0, 4);
  for (int i = 0; i < 4; ++i) {
    const Batch batch = whole(feeds_of(vector_feed, {4}, i));
    plain->zero_grad();
    JudgeLoss()(plain, batch).backward();
    of_judge.step();
    plain->zero_grad();
    GeneratorLoss()(plain, batch).backward();
    of_generator.step();
  }
  EXPECT_LT(largest_difference(copies(training.towers.master().trainable), trainable_of(*plain)),
            kGoldenTolerance);
  std::vector<at::Tensor> buffers;
  for (const auto& buffer : plain->buffers()) buffers.push_back(buffer.to(torch::kDouble));
  std::vector<at::Tensor> found;
  for (const auto& buffer : copies(training.towers.table(0).buffers))
    found.push_back(buffer.to(torch::kDouble));
  EXPECT_LT(largest_difference(found, buffers), kGoldenTolerance);
}

TEST(TwoStepsTest, AStepThatIsSkippedLeavesTheBuffersOfTheOther) {
  Training training({2, ParameterPlacement::shared}, NonFinite::skip);
  training.generator.run(feeds_of(vector_feed, {4, 3}, 0), GeneratorLoss());
  training.discriminator.run(feeds_of(vector_feed, {4, 3}, 1), JudgeLoss());
  const auto before = training.tensors();
  const auto result =
      training.generator.run(feeds_of(vector_feed, {4, 3}, 2), [](Gan& gan, const Batch& batch) {
        return GeneratorLoss()(gan, batch) * std::numeric_limits<double>::quiet_NaN();
      });
  EXPECT_TRUE(result.skipped);
  EXPECT_TRUE(all_equal(training.tensors(), before));
}

TEST(TwoStepsTest, ACheckpointOfEachStepGoesOnBitForBit) {
  const PlacedMachine placed{3, ParameterPlacement::spread};
  Training first(placed);
  first.run(0, 3);
  const Checkpoint of_discriminator = snapshot(first.towers, first.discriminator, {.step = 3}, "");
  const Checkpoint of_generator = snapshot(first.towers, first.generator, {.step = 3}, "");
  first.run(3, 6);

  Training second(placed);
  second.run(0, 1);
  restore(of_discriminator, second.towers, second.discriminator);
  restore(of_generator, second.towers, second.generator);
  second.run(3, 6);
  EXPECT_TRUE(all_equal(second.tensors(), first.tensors()));
  EXPECT_TRUE(
      all_equal(second.generator.updater().averages(), first.generator.updater().averages()));
}

}  // namespace two_steps_test
}  // namespace pagoda
