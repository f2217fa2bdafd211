#include <pagoda/base/error.h>
#include <pagoda/device/device_list.h>
#include <pagoda/placement/on.h>

#include <latch>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace on_test {

using testing::on_card;
using testing::first_cards;

Device host() { return select_devices("cpu:0").front(); }

TEST(OnTest, ComputesOnTheDeviceAndMovesItsInputs) {
  const auto cards = first_cards(2);
  const at::Tensor a = torch::rand({2, 3});
  const at::Tensor b = torch::rand({3, 2}).to(on_card(1).device());
  const auto product = on(
      cards[0], [](at::Tensor x, at::Tensor y) { return x.mm(y); }, a, b);
  EXPECT_EQ(product.get().device(), on_card(0).device());
  EXPECT_TRUE(product.get().cpu().equal(a.mm(b.cpu())));
  const auto on_host = on(
      host(), [](at::Tensor x) { return x.sum().item<float>(); }, product);
  EXPECT_EQ(on_host.get(), product.get().sum().item<float>());
}

TEST(OnTest, ReturnsAtOnceAndLaterWorkWaits) {
  const auto cards = first_cards(2);
  std::latch released(1);
  const auto first = on(cards[0], [&](c10::Device device) {
    released.wait();
    return at::ones({2}, device);
  });
  const auto second = on(
      cards[1], [](at::Tensor x) { return x * 3; }, first);
  released.count_down();  // had the calls waited, this would not be reached
  EXPECT_EQ(second.get().sum().item<float>(), 6);
  EXPECT_EQ(second.get().device(), on_card(1).device());
}

TEST(OnTest, GradientsFlowAcrossDevices) {
  const auto cards = first_cards(3);
  const at::Tensor a = torch::rand({2, 2}, torch::kDouble).requires_grad_();
  const at::Tensor b = torch::rand({2, 2}, torch::kDouble).requires_grad_();
  const auto forward = [&](auto place) {
    const auto product = on(
        place(0), [](at::Tensor x, at::Tensor y) { return x.mm(y); }, a, b);
    const auto sum = on(
        place(1), [](at::Tensor x, at::Tensor y) { return (x + y).tanh(); }, a, b);
    return on(
        place(2), [](at::Tensor x, at::Tensor y) { return (x * y).sum(); }, product, sum);
  };
  forward([&](int i) { return cards[static_cast<std::size_t>(i)]; }).get().backward();
  const at::Tensor on_cards = a.grad().clone();
  a.mutable_grad().reset();
  forward([](int) { return host(); }).get().backward();
  EXPECT_TRUE(on_cards.is_cpu());
  EXPECT_LT((on_cards - a.grad()).abs().max().item<double>(), 1e-15);
}

TEST(OnTest, TakesListsAndOtherArgumentsAndTheCallersGradMode) {
  const std::vector<at::Tensor> parts = {at::ones({2}), at::full({2}, 2.0), at::Tensor()};
  const at::NoGradGuard no_grad;
  const auto sum = on(
      first_cards(1)[0],
      [](std::vector<at::Tensor> all, double factor) {
        EXPECT_FALSE(at::GradMode::is_enabled());
        return (all[0] + all[1]) * factor;
      },
      parts, 0.5);
  EXPECT_EQ(sum.get().sum().item<float>(), 3);
}

TEST(OnTest, WhatIsThrownComesFromTheValueAndWhateverUsesIt) {
  const auto cards = first_cards(2);
  const auto bad = on(
      cards[0], [](at::Tensor x) { return x.mm(x); }, at::ones({2, 3}));
  const auto after = on(
      cards[1], [](at::Tensor x) { return x + 1; }, bad);
  EXPECT_ANY_THROW(bad.get());
  EXPECT_ANY_THROW(after.get());
  const auto mixed = on(
      cards[0],
      [](at::Tensor x) {
        return x.mm(at::ones({2, 2}, on_card(1)));
      },
      at::ones({2, 2}));
  EXPECT_THROW(mixed.get(), UsageError);
}

}  // namespace on_test
}  // namespace pagoda
