#include <pagoda/tower/towers.h>

#include <atomic>
#include <memory>
#include <type_traits>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace towers_test {

using testing::cpu_devices;
using testing::Mlp;
using testing::MlpImpl;

/// What every kind of factory has to lead to: `model(t)` is the replica that the group holds.
template <class Model>
void expect_models_are_the_replicas(const Towers<Model>& towers) {
  for (int tower = 0; tower < towers.size(); ++tower) {
    EXPECT_EQ(static_cast<torch::nn::Module*>(&*towers.model(tower)), &towers.module(tower));
    EXPECT_EQ(towers.table(tower).trainable.size(), 4u);
  }
  EXPECT_NE(&towers.module(0), &towers.module(1));
}

TEST(TowersTest, AFactoryMayReturnAModuleHolder) {
  const auto towers = make_towers(cpu_devices(3), [] { return Mlp(); });
  static_assert(std::is_same_v<decltype(towers.model(0)), Mlp&>);
  expect_models_are_the_replicas(towers);
}

TEST(TowersTest, AFactoryMayReturnASharedPointer) {
  const auto towers = make_towers(cpu_devices(3), [] { return std::make_shared<MlpImpl>(); });
  static_assert(std::is_same_v<decltype(towers.model(0)), std::shared_ptr<MlpImpl>&>);
  expect_models_are_the_replicas(towers);
}

TEST(TowersTest, AFactoryMayReturnAModuleByValue) {
  const auto towers = make_towers(cpu_devices(3), [] { return MlpImpl(); });
  static_assert(std::is_same_v<decltype(towers.model(0)), std::shared_ptr<MlpImpl>&>);
  expect_models_are_the_replicas(towers);
}

TEST(TowersTest, AFactoryMayReturnASequential) {
  const auto towers = make_towers(cpu_devices(2), [] {
    return torch::nn::Sequential(torch::nn::Linear(4, 5), torch::nn::Tanh(),
                                 torch::nn::Linear(5, 3));
  });
  EXPECT_EQ(towers.model(1)->forward(torch::ones({2, 4})).sizes(), c10::IntArrayRef({2, 3}));
  EXPECT_EQ(towers.table(1).trainable.size(), 4u);
}

TEST(TowersTest, TheFactoryIsCalledOnceForEachTower) {
  std::atomic<int> calls = 0;
  const auto towers = make_towers(cpu_devices(3), [&calls] {
    ++calls;
    return Mlp();
  });
  EXPECT_EQ(calls, 3);
}

}  // namespace towers_test
}  // namespace pagoda
