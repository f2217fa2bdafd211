#include "tower/synced_batch_norm.h"

#include <pagoda/base/error.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/formula_data.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace synced_batch_norm_test {

using testing::largest_difference;
using testing::message_of;
using testing::waves;

/// A turn of a tower that is alone.
struct Alone {
  Alone() {
    exchange->begin_step({1});
    turn.next_feed();
  }
  std::shared_ptr<BatchNormExchange> exchange =
      std::make_shared<BatchNormExchange>(1, std::chrono::minutes(1));
  BatchNormTurn turn{exchange, 0, 0};
};

/// All that comes of a layer, forward and backward.
std::vector<at::Tensor> results(const at::Tensor& input, bool affine, bool running, bool synced) {
  const std::int64_t channels = input.size(1);
  const at::Tensor x = input.detach().clone().requires_grad_();
  std::optional<at::Tensor> weight, bias, mean, variance;
  if (affine) {
    weight = waves({channels, 1}, 3, 0.3).squeeze(1).to(x.scalar_type()).requires_grad_();
    bias = waves({channels, 1}, 5, 0.2).squeeze(1).to(x.scalar_type()).requires_grad_();
  }
  if (running) {
    mean = torch::zeros({channels}, input.options());
    variance = torch::ones({channels}, input.options());
  }
  Alone alone;
  const at::Tensor y =
      synced ? synced_batch_norm(alone.turn, {x, weight, bias, mean, variance, 0.3, 1e-3})
             : at::batch_norm(x, weight, bias, mean, variance, true, 0.3, 1e-3, false);
  (y * torch::cos(torch::arange(y.numel(), y.options()).reshape(y.sizes()))).sum().backward();
  std::vector<at::Tensor> all = {y.detach(), x.grad()};
  if (affine) all.insert(all.end(), {weight->grad(), bias->grad()});
  if (running) all.insert(all.end(), {*mean, *variance});
  return all;
}

TEST(SyncedBatchNormTest, OneTowerAloneEqualsLibTorch) {
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {2, 1}, {7, 3}, {5, 4, 3}, {1, 3, 2, 5}, {4, 3, 5, 7}, {2, 3, 2, 3, 2}}) {
    for (const bool affine : {false, true}) {
      for (const bool running : {false, true}) {
        const at::Tensor input = waves(shape, 0, 0.7) + 3;
        EXPECT_LT(largest_difference(results(input, affine, running, true),
                                     results(input, affine, running, false)),
                  1e-12);
        const at::Tensor floats = input.to(torch::kFloat);
        EXPECT_LT(largest_difference(results(floats, affine, running, true),
                                     results(floats, affine, running, false)),
                  2e-4);
      }
    }
  }
}

TEST(SyncedBatchNormTest, KeepsTheLayoutOfImages) {
  const at::Tensor image = waves({4, 3, 5, 7}, 0, 0.7).to(at::MemoryFormat::ChannelsLast);
  Alone alone;
  const at::Tensor y = synced_batch_norm(alone.turn, {image, {}, {}, {}, {}, 0.1, 1e-5});
  EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(SyncedBatchNormTest, SixteenBitsAreNormalisedIn32) {
  const at::Tensor x = (waves({64, 3}, 0, 0.7) + 30).to(torch::kBFloat16);
  Alone alone;
  const at::Tensor y = synced_batch_norm(alone.turn, {x, {}, {}, {}, {}, 0.1, 1e-5});
  EXPECT_EQ(y.scalar_type(), torch::kBFloat16);
  EXPECT_LT(y.to(torch::kFloat).mean().abs().item<double>(), 1e-2);
}

TEST(SyncedBatchNormTest, RefusesASingleValueAndASecondDerivative) {
  Alone alone;
  const at::Tensor one = torch::ones({1, 3}, torch::kDouble);
  EXPECT_THROW(synced_batch_norm(alone.turn, {one, {}, {}, {}, {}, 0.1, 1e-5}), UsageError);
  const at::Tensor x = waves({4, 3}, 0, 0.7).requires_grad_();
  const at::Tensor y = synced_batch_norm(alone.turn, {x, {}, {}, {}, {}, 0.1, 1e-5});
  EXPECT_THROW(torch::autograd::grad({y.square().sum()}, {x}, {}, true, /*create_graph=*/true),
               UsageError);
}

TEST(SyncedBatchNormTest, TheSmallestFeedNeedsTwoValuesForAChannel) {
  BatchNormTurn known(nullptr, 0, 1);
  EXPECT_NE(message_of<UsageError>([&] {
              check_smallest_feed(known, torch::ones({8, 3}));
            }).find("BatchesOptions::drop_last"),
            std::string::npos);
  check_smallest_feed(known, torch::ones({8, 3, 2, 2}));
  const BatchNormTurn larger(nullptr, 0, 2);
  check_smallest_feed(larger, torch::ones({8, 3}));
  const BatchNormTurn unknown(nullptr, 0, 0);
  check_smallest_feed(unknown, torch::ones({8, 3}));
}

}  // namespace synced_batch_norm_test
}  // namespace pagoda
