#include "model/made_up_measuring.h"

#include <algorithm>

#include <ATen/ops/dropout.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

namespace pagoda::app {
namespace made_up_measuring_test {

constexpr std::int64_t kInputs = 3;
constexpr std::int64_t kOutputs = 5;

/// A model that names no layers.
struct DroppedImpl : torch::nn::Module {
  explicit DroppedImpl(double part) : dropout(part) { register_module("linear", linear); }
  at::Tensor forward(const at::Tensor& x) { return at::dropout(linear(x), dropout, is_training()); }

  const double dropout;
  torch::nn::Linear linear{torch::nn::LinearOptions(kInputs, kOutputs)};
};
TORCH_MODULE(Dropped);

class DroppedMeasuring : public MadeUpMeasuring<Dropped, Batch> {
  MadeUpTask<Dropped, Batch> task() const override {
    return {.model = [](double dropout) { return Dropped(dropout); },
            .feed =
                [](std::int64_t samples, std::int64_t, at::Generator& random) {
                  return Batch{.input = at::randn({samples, kInputs}, random),
                               .target = at::randn({samples, kOutputs}, random)};
                },
            .join = join_batches,
            .score =
                [](Dropped& model, const Batch& batch) {
                  return Scored{.loss = (model(batch.input) - batch.target).square().mean()};
                }};
  }
};

double difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
  return largest;
}

TEST(MadeUpMeasuringTest, TowersEqualOneWithTheSamplesOfAllAndNotOneWithItsOwn) {
  const DroppedMeasuring model;
  const auto devices = select_devices("3");
  const TrialOptions three{.batch_size = 2, .feeds = 3, .steps = 4};
  const auto many = model.parameters_after(devices, three);
  TrialOptions joined = three;
  joined.joined = true;
  EXPECT_LE(difference(many, model.parameters_after({devices.front()}, joined)), 1e-12);
  TrialOptions alone = three;
  alone.feeds = 1;
  EXPECT_GT(difference(many, model.parameters_after({devices.front()}, alone)), 1e-6);
}

TEST(MadeUpMeasuringTest, DropoutIsThatOfTheSeed) {
  const DroppedMeasuring model;
  const auto devices = select_devices("2");
  const TrialOptions plain{.batch_size = 3, .feeds = 2, .type = at::kFloat};
  TrialOptions noisy = plain;
  noisy.dropout = 0.5;
  const auto first = model.parameters_after(devices, noisy);
  EXPECT_EQ(first.front().scalar_type(), at::kFloat);
  EXPECT_EQ(difference(first, model.parameters_after(devices, noisy)), 0);
  EXPECT_GT(difference(first, model.parameters_after(devices, plain)), 0);
  noisy.seed = 2;
  EXPECT_GT(difference(first, model.parameters_after(devices, noisy)), 0);
}

TEST(MadeUpMeasuringTest, AModelWithoutLayersIsMeasuredAsOne) {
  const DroppedMeasuring model;
  EXPECT_EQ(model.layers(), 1);
  const auto bench = model.bench(select_devices("2"), {.batch_size = 2, .steps = 1});
  for (const BenchMode mode : {BenchMode::full, BenchMode::unsynchronised, BenchMode::async})
    EXPECT_GT(bench->run(mode).samples_per_second, 0);
}

}  // namespace made_up_measuring_test
}  // namespace pagoda::app
