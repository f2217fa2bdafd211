#include "tower/tower_context.h"

#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace tower_context_test {

struct RandomOperation {
  const char* name;
  std::function<at::Tensor()> draw;
};

void PrintTo(const RandomOperation& operation, std::ostream* out) { *out << operation.name; }

/// What models and initialisers draw with, directly or inside a composed operation.
std::vector<RandomOperation> random_operations() {
  const auto half = torch::full({64}, 0.5);
  return {
      {"dropout", [] { return torch::dropout(torch::ones(64), 0.5, true); }},
      {"dropout_in_place",
       [] {
         at::Tensor ones = torch::ones(64);
         return torch::dropout_(ones, 0.5, true);
       }},
      {"native_dropout",
       [] { return std::get<0>(torch::native_dropout(torch::ones(64), 0.5, true)); }},
      {"feature_dropout",
       [] {
         return torch::feature_dropout(torch::ones({64, 2, 2}), 0.5, true);
       }},
      {"alpha_dropout", [] { return torch::alpha_dropout(torch::ones(64), 0.5, true); }},
      {"rrelu", [] { return torch::rrelu(-torch::ones(64), 0.1, 0.9, true); }},
      {"rand", [] { return torch::rand(64); }},
      {"rand_like", [] { return torch::rand_like(torch::ones(64)); }},
      {"randn", [] { return torch::randn(64); }},
      {"randint", [] { return torch::randint(1000, 64); }},
      {"randperm", [] { return torch::randperm(64); }},
      {"normal", [] { return torch::normal(0.0, 1.0, 64); }},
      {"uniform", [] { return torch::empty(64).uniform_(); }},
      {"exponential", [] { return torch::empty(64).exponential_(); }},
      {"bernoulli", [half] { return torch::bernoulli(half); }},
      {"multinomial", [half] { return torch::multinomial(half, 20); }},
      {"poisson", [] { return torch::poisson(torch::full({64}, 9.0)); }},
      {"linear_layer", [] { return torch::nn::Linear(8, 8)->weight.detach(); }},
      {"lstm_layer", [] { return torch::nn::LSTM(8, 8)->all_weights()[0].detach(); }},
  };
}

class TowerContextTest : public ::testing::TestWithParam<RandomOperation> {};

TEST_P(TowerContextTest, DrawsFromTheTowersStream) {
  const auto global_state = at::detail::getDefaultCPUGenerator().get_state();
  const auto draw = [](std::uint64_t seed) {
    TowerContext context(c10::kCPU);
    context.reseed(seed);
    const at::Tensor first = GetParam().draw();
    return std::pair(first, GetParam().draw());
  };
  const auto [first, second] = draw(7);
  EXPECT_TRUE(draw(7).first.equal(first));
  EXPECT_TRUE(draw(7).second.equal(second));
  EXPECT_FALSE(second.equal(first));
  EXPECT_FALSE(draw(8).first.equal(first));
  EXPECT_TRUE(at::detail::getDefaultCPUGenerator().get_state().equal(global_state));
}

INSTANTIATE_TEST_SUITE_P(Operations, TowerContextTest, ::testing::ValuesIn(random_operations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TowerContextTest, LeavesAGivenGeneratorAlone) {
  const auto draw = [] {
    return torch::rand({8}, at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{5}));
  };
  const at::Tensor outside = draw();
  TowerContext context(c10::kCPU);
  EXPECT_TRUE(draw().equal(outside));
}

TEST(TowerContextTest, ThreadsDoNotShareAStream) {
  const auto draw = [](std::uint64_t seed) {
    TowerContext context(c10::kCPU);
    context.reseed(seed);
    at::Tensor sum = torch::zeros(16);
    for (int i = 0; i < 200; ++i) sum += torch::rand(16);
    return sum;
  };
  const at::Tensor alone = draw(1);
  auto same = std::async(std::launch::async, draw, 1);
  auto other = std::async(std::launch::async, draw, 2);
  EXPECT_TRUE(same.get().equal(alone));
  EXPECT_FALSE(other.get().equal(alone));
}

TEST(TowerContextTest, EndsWithItsScope) {
  { TowerContext context(c10::kCPU); }
  torch::manual_seed(3);
  const at::Tensor first = torch::rand(8);
  torch::manual_seed(3);
  EXPECT_TRUE(torch::rand(8).equal(first));
}

at::Tensor channels_last_image() {
  return torch::arange(2 * 3 * 2 * 2, torch::kDouble)
      .reshape({2, 3, 2, 2})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

TEST(TowerContextTest, ViewsWhatTheLayoutDoesNotAllow) {
  const at::Tensor image = channels_last_image();
  ASSERT_THROW(image.view({2, -1}), c10::Error) << "otherwise this test shows nothing";
  TowerContext context(c10::kCPU);
  EXPECT_TRUE(image.view({2, -1}).equal(image.reshape({2, -1})));
  EXPECT_TRUE(image.view({-1}).equal(torch::arange(24, torch::kDouble)));
}

TEST(TowerContextTest, GradientsFlowThroughAView) {
  TowerContext context(c10::kCPU);
  const at::Tensor image = channels_last_image().requires_grad_();
  const at::Tensor factors = torch::arange(24, torch::kDouble).reshape({2, 12});
  (image.view({2, -1}) * factors).sum().backward();
  EXPECT_TRUE(image.grad().equal(factors.reshape({2, 3, 2, 2})));
}

TEST(TowerContextTest, ViewStillSharesMemoryWhereItCan) {
  TowerContext context(c10::kCPU);
  const at::Tensor plain = torch::zeros({2, 6});
  plain.view({3, 4}).fill_(1);
  EXPECT_TRUE(plain.equal(torch::ones({2, 6})));
  const at::Tensor transposed = torch::zeros({4, 6}).t();
  transposed.view({2, 3, 4}).fill_(1);
  EXPECT_TRUE(transposed.equal(torch::ones({6, 4})));
}

TEST(TowerContextTest, RefusesAViewOfAnotherSize) {
  TowerContext context(c10::kCPU);
  EXPECT_THROW(channels_last_image().view({5, 5}), c10::Error);
  EXPECT_THROW(torch::zeros({2, 3}).view({5}), c10::Error);
}

TEST(TowerContextReseedTest, TheThreadsStreamCanBeginAnewWithoutItsOwner) {
  TowerContext context(at::kCPU);
  context.reseed(5);
  const at::Tensor first = torch::rand(64);
  torch::rand(3);
  reseed_this_tower(5);
  EXPECT_TRUE(torch::rand(64).equal(first));
}

TEST(TowerContextReseedTest, TheGeneratorsOfACardDrawDifferently) {
  const auto card = testing::on_card(1);
  const auto draw = [&] {
    TowerContext context(card.device());
    context.reseed(5);
    const at::Tensor of_tower = torch::rand({64}, card).cpu();
    at::Generator shared = at::globalContext().defaultGenerator(card.device());
    return std::pair(of_tower, at::empty({64}, card).uniform_(0, 1, shared).cpu());
  };
  const auto [of_tower, of_backward] = draw();
  EXPECT_FALSE(of_tower.equal(of_backward));
  EXPECT_TRUE(draw().first.equal(of_tower));
  EXPECT_TRUE(draw().second.equal(of_backward));
}

}  // namespace tower_context_test
}  // namespace pagoda
