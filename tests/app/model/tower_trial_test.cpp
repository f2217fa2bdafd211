#include "model/tower_trial.h"

#include <ATen/ops/dropout.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

namespace pagoda::app {
namespace tower_trial_test {

constexpr std::int64_t kInputs = 3;
constexpr std::int64_t kOutputs = 5;

struct DroppedImpl : torch::nn::Module {
  explicit DroppedImpl(double part) : dropout(part) { register_module("linear", linear); }
  at::Tensor forward(const at::Tensor& x) { return at::dropout(linear(x), dropout, is_training()); }

  const double dropout;
  torch::nn::Linear linear{torch::nn::LinearOptions(kInputs, kOutputs)};
};
TORCH_MODULE(Dropped);

const MadeUpTask<Dropped, Batch> kTask{
    .model = [](double dropout) { return Dropped(dropout); },
    .feed =
        [](std::int64_t samples, std::int64_t, at::Generator& random) {
          return Batch{.input = at::randn({samples, kInputs}, random),
                       .target = at::randn({samples, kOutputs}, random)};
        },
    .join = join_batches,
    .score =
        [](Dropped& model, const Batch& batch) {
          return Scored{.loss = (model(batch.input) - batch.target).square().mean()};
        },
    .inputs = nullptr,
    .score_outputs = nullptr};

double difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
  return largest;
}

TEST(TowerTrialTest, TowersEqualOneWithTheSamplesOfAllAndNotOneWithItsOwn) {
  const auto devices = select_devices("3");
  const TrialOptions three{.batch_size = 2, .feeds = 3, .steps = 4};
  const auto many = run_trial(devices, kTask, three);
  TrialOptions joined = three;
  joined.joined = true;
  EXPECT_LE(difference(many, run_trial({devices.front()}, kTask, joined)), 1e-12);
  TrialOptions alone = three;
  alone.feeds = 1;
  EXPECT_GT(difference(many, run_trial({devices.front()}, kTask, alone)), 1e-6);
}

TEST(TowerTrialTest, DropoutIsThatOfTheSeed) {
  const auto devices = select_devices("2");
  const TrialOptions plain{.batch_size = 3, .feeds = 2, .type = at::kFloat};
  TrialOptions noisy = plain;
  noisy.dropout = 0.5;
  const auto first = run_trial(devices, kTask, noisy);
  EXPECT_EQ(first.front().scalar_type(), at::kFloat);
  EXPECT_EQ(difference(first, run_trial(devices, kTask, noisy)), 0);
  EXPECT_GT(difference(first, run_trial(devices, kTask, plain)), 0);
  noisy.seed = 2;
  EXPECT_GT(difference(first, run_trial(devices, kTask, noisy)), 0);
}

}  // namespace tower_trial_test
}  // namespace pagoda::app
