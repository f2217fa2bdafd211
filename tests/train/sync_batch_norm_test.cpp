// With TowerOptions::sync_batch_norm N towers equal one, BatchNorm and all.

#include <pagoda/base/error.h>
#include <pagoda/data/batches.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/late_tower.h"

namespace pagoda {
namespace sync_batch_norm_test {

using namespace pagoda::testing;

/// Both shapes of BatchNorm, one without weights, and an InstanceNorm, which is nobody else's.
struct NormedImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = torch::tanh(norm1(conv(x)));
    y = torch::tanh(instance(y));
    y = norm2(y.reshape({y.size(0), -1}));
    return output(torch::tanh(y));
  }

  torch::nn::Conv2d conv = register_module("conv", torch::nn::Conv2d(3, 2, 5));
  torch::nn::BatchNorm2d norm1 = register_module("norm1", torch::nn::BatchNorm2d(2));
  torch::nn::InstanceNorm2d instance =
      register_module("instance", torch::nn::InstanceNorm2d(torch::nn::InstanceNorm2dOptions(2)));
  torch::nn::BatchNorm1d norm2 = register_module(
      "norm2", torch::nn::BatchNorm1d(torch::nn::BatchNorm1dOptions(32).affine(false)));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(32, kOutputs));
};
TORCH_MODULE(Normed);

Normed make_normed() { return in_double(Normed()); }

std::vector<at::Tensor> buffers_of(const std::vector<NamedTensor>& buffers) {
  std::vector<at::Tensor> all;
  for (const auto& buffer : copies(buffers)) all.push_back(buffer.to(torch::kDouble));
  return all;
}

class SyncBatchNormTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  TowerOptions options() const {
    return {.placement = GetParam().placement, .sync_batch_norm = true};
  }
  std::vector<Device> devices() const { return GetParam().machine.devices(); }
};
INSTANTIATE_TEST_SUITE_P(Towers, SyncBatchNormTest, ::testing::ValuesIn(few_placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(SyncBatchNormTest, TowersEqualOneDevice) {
  const int count = GetParam().machine.towers;
  std::vector<std::int64_t> uneven;
  for (int i = 0; i < count; ++i) uneven.push_back(5 + i % 3);  // fewer are badly conditioned
  std::vector<std::vector<std::int64_t>> all_sizes = {uneven, {6}};
  if (count > 1) all_sizes.push_back({0, 7});
  for (const auto& sizes : all_sizes) {
    auto towers = make_towers(devices(), make_normed, options());
    Normed plain = make_normed();
    copy_values(towers, *plain);
    SyncStep step(towers, Sgd{.learning_rate = 0.1, .momentum = 0.9});
    PlainTraining training(plain, Sgd{.learning_rate = 0.1, .momentum = 0.9}, {});
    for (int i = 0; i < 3; ++i) {
      const auto feeds = feeds_of(image_feed, sizes, i);
      EXPECT_NEAR(step.run(feeds, MeanSquare()).loss, training.step(whole(feeds)),
                  kGoldenTolerance);
    }
    EXPECT_LT(largest_difference(copies(towers.master().trainable), training.parameters()),
              kGoldenTolerance);
    const auto expected = buffers_of(table_of(*plain).buffers);
    for (int tower = 0; tower < count; ++tower) {
      auto found = buffers_of(towers.table(tower).buffers);
      if (sizes[0] == 0) {  // tower 0, which counts batches, has seen none
        found.erase(found.begin() + 2);
        EXPECT_LT(largest_difference({found[0], found[1]}, {expected[0], expected[1]}),
                  kGoldenTolerance);
      } else {
        EXPECT_LT(largest_difference(found, expected), kGoldenTolerance);
      }
    }
  }
}

TEST_P(SyncBatchNormTest, SeveralFeedsOfATowerGoTogetherInTheirOrder) {
  // Two rounds, the second on tower 0 alone: as one tower that accumulates over two feeds.
  const int count = GetParam().machine.towers;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), 5);
  sizes.push_back(6);
  auto towers = make_towers(devices(), make_normed, options());
  auto one = make_towers(cpu_devices(1), make_normed, {.sync_batch_norm = true});
  copy_values(towers, *one.model(0));
  SyncStep step(towers, Sgd{.learning_rate = 0.1});
  SyncStep expected(one, Sgd{.learning_rate = 0.1});
  for (int i = 0; i < 3; ++i) {
    auto feeds = feeds_of(image_feed, sizes, i);
    step.run(feeds, MeanSquare());
    const Batch last = feeds.back();
    feeds.pop_back();
    expected.run(std::vector<Batch>{whole(feeds), last}, MeanSquare());
  }
  EXPECT_LT(largest_difference(copies(towers.master().trainable), copies(one.master().trainable)),
            kGoldenTolerance);
  EXPECT_LT(largest_difference(buffers_of(towers.table(count - 1).buffers),
                               buffers_of(one.table(0).buffers)),
            kGoldenTolerance);
}

TEST_P(SyncBatchNormTest, ATowerThatFailsLetsTheOthersGo) {
  const int count = GetParam().machine.towers;
  for (const std::string phase : {"feed", "forward", "backward"}) {
    for (int bad = 0; bad < count; ++bad) {
      SCOPED_TRACE(phase + " on tower " + std::to_string(bad));
      std::atomic<bool> armed = true;
      auto towers = make_towers(devices(), make_normed, options());
      SyncStep step(towers, Sgd{}, {.on_phase = [&](const TowerJob& job) {
                      if (job.tower == bad && job.phase == phase && armed.exchange(false))
                        throw std::runtime_error("broken");
                    }});
      const auto run = [&] {
        return step.run(
            feeds_of(image_feed, std::vector<std::int64_t>(static_cast<std::size_t>(count), 2), 0),
            MeanSquare());
      };
      const auto error = thrown_by<TowerError>(run);
      ASSERT_TRUE(error);
      EXPECT_EQ(error->tower(), bad) << error->what();
      EXPECT_EQ(error->phase(), phase);
      EXPECT_EQ(run().step, 0);
    }
  }
}

TEST(SyncBatchNormTest, CallsThatDifferAreToldInForwardAndInBackward) {
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
    for (const bool backward : {false, true}) {
      auto towers = make_towers(Machine(2, kind).devices(), make_normed, {.sync_batch_norm = true});
      SyncStep step(towers, Sgd{});
      const std::string text = message_of<UsageError>([&] {
        step.run(feeds_of(image_feed, {2, 3}, 0), [&](Normed& model, const Batch& batch) {
          const at::Tensor good = MeanSquare()(model, batch);
          if (batch.input.size(0) == 2) return good;
          return backward ? good.detach() + model->output->bias.square().sum()
                          : good + model->forward(batch.input).sum();
        });
      });
      EXPECT_NE(text.find("needs the same calls on each of them"), std::string::npos) << text;
    }
  }
}

TEST(SyncBatchNormTest, ALateTowerEndsTheStepOfAll) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  {
    auto towers = make_towers(cpu_devices(2), make_normed,
                              {.sync_batch_norm = true, .timeout = kShortTimeout});
    SyncStep step(towers, Sgd{}, {.on_phase = [released](const TowerJob& job) {
                    if (job.tower == 1 && job.phase == std::string("forward")) released.wait();
                  }});
    const std::string text = message_of<DeviceError>([&] {
      step.run(feeds_of(image_feed, {2, 2}, 0), MeanSquare());
    });
    EXPECT_NE(text.find("tower 1"), std::string::npos) << text;
    release.set_value();
  }
}

TEST(SyncBatchNormTest, EvaluationUsesTheRunningStatistics) {
  auto towers = make_towers(cpu_devices(2), make_normed, {.sync_batch_norm = true});
  const Batch all = image_feed(0, 5);
  const TensorDataset data(all.input, all.target);
  const double loss = evaluate(towers, batches(data, 2, {.batch_size = 1}), MeanSquare()).loss;
  towers.model(0)->eval();
  EXPECT_NEAR(loss, MeanSquare()(towers.model(0), all).item<double>(), kGoldenTolerance);
}

TEST(SyncBatchNormTest, IsForSynchronousStepsOnCardsOfTheirOwn) {
  auto towers = make_towers(cpu_devices(2), make_normed,
                            {.placement = ParameterPlacement::host, .sync_batch_norm = true});
  EXPECT_THROW(AsyncStep(towers, Sgd{}), UsageError);
  const Device card = Machine(1, testing::kCardKind).devices()[0];
  EXPECT_THROW(make_towers({card, card}, make_normed, {.sync_batch_norm = true}), UsageError);
}

TEST(SmallFeedTest, BatchNormThatCannotTakeTheLastFeedIsToldInTheFirstStep) {
  const Batch all = vector_feed(0, 13);
  const TensorDataset data(all.input, all.target);
  const auto train = [&](bool drop_last) {
    auto towers = make_towers(cpu_devices(2), [] { return Noisy(); });
    SyncStep step(towers, Sgd{});
    const std::string text = message_of<UsageError>([&] {
      for (auto& feeds : batches(data, 2, {.batch_size = 3, .drop_last = drop_last, .epochs = 2}))
        step.run(feeds, MeanSquare());
    });
    return std::make_pair(step.count(), text);
  };
  const auto [steps, text] = train(false);
  EXPECT_EQ(steps, 0);
  EXPECT_NE(text.find("BatchesOptions::drop_last"), std::string::npos) << text;
  EXPECT_EQ(train(true), std::make_pair(std::int64_t{4}, std::string()));

  // Where nobody knows what is to come it is told when it comes.
  auto towers = make_towers(cpu_devices(2), [] { return Noisy(); });
  SyncStep step(towers, Sgd{});
  const std::string late = message_of<UsageError>([&] {
    step.run(feeds_of(vector_feed, {2, 1}, 0), MeanSquare());
  });
  EXPECT_NE(late.find("BatchesOptions::drop_last"), std::string::npos) << late;
}

}  // namespace sync_batch_norm_test
}  // namespace pagoda
