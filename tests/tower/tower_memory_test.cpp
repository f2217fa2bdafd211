#include <pagoda/tower/tower_group.h>

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/fresh_process.h"
#include "support/resident_memory.h"
#include "support/sim_machine.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace tower_memory_test {

using testing::cpu_devices;
using testing::resident_bytes;

/// 50 million parameters.
std::shared_ptr<torch::nn::Module> make_large(int) {
  return torch::nn::Sequential(torch::nn::Linear(5000, 5000), torch::nn::Linear(5000, 5000)).ptr();
}

TEST(TowerMemoryTest, TheSecondTowerAddsNoParameters) {
  if (!testing::kMemoryIsMeasurable) GTEST_SKIP() << "built with a sanitizer";
  const auto bytes_with = [](int count) {
    const std::int64_t before = resident_bytes();
    const TowerGroup towers(cpu_devices(count), make_large);
    return resident_bytes() - before;
  };
  const auto parameter_bytes = static_cast<double>(2 * (5000 * 5000 + 5000) * sizeof(float));
  const auto one = static_cast<double>(bytes_with(1));
  EXPECT_NEAR(one / parameter_bytes, 1, 0.05);
  EXPECT_LT(static_cast<double>(bytes_with(2)) - one, 0.05 * parameter_bytes);
}

std::shared_ptr<torch::nn::Module> make_small(int) { return torch::nn::Linear(3, 2).ptr(); }

TEST(TowerMemoryTest, TowersOnCardsAreTheFirstThatUseThem) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  testing::expect_in_fresh_process([] {
    const TowerGroup towers(testing::first_cards(2), make_small);
    return towers.memory().use(1).in_use >= (3 * 2 + 2) * 4;
  });
}

TEST(TowerMemoryTest, ALimitOfACardEndsWithItsGroup) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  auto limited = testing::first_cards(2);
  for (auto& card : limited) card.memory_limit = 1 << 20;
  const auto fits = [](int card) {
    try {
      at::empty({1 << 20}, testing::on_card(card));
      return true;
    } catch (const MemoryLimitError&) {
      return false;
    }
  };
  {
    const TowerGroup towers(limited, make_small);
    EXPECT_FALSE(fits(0));
    EXPECT_FALSE(fits(1));
    EXPECT_TRUE(fits(2));
  }
  EXPECT_TRUE(fits(0));
  EXPECT_TRUE(fits(1));
}

}  // namespace tower_memory_test
}  // namespace pagoda
