#include "tower/parameter_copies.h"

#include <pagoda/tower/tower_group.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/machines.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace parameter_copies_test {

using testing::HalfFrozenImpl;
using testing::PlacedMachine;

class ParameterCopiesTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  static bool all_are(const std::vector<NamedTensor>& tensors, double value) {
    for (const auto& entry : tensors) {
      if (!entry.tensor.detach().to(at::kCPU).eq(value).all().item<bool>()) return false;
    }
    return true;
  }

  TowerGroup towers_{GetParam().machine.devices(),
                     testing::make_module<HalfFrozenImpl>,
                     {.placement = GetParam().placement}};
  ParameterCopies& copies_ = towers_.replicas()->copies();
};
INSTANTIATE_TEST_SUITE_P(Towers, ParameterCopiesTest,
                         ::testing::ValuesIn(testing::placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(ParameterCopiesTest, WhatIsWrittenIntoTheMasterReachesEveryTower) {
  torch::NoGradGuard no_grad;
  for (const auto& entry : copies_.master().trainable) entry.tensor.fill_(3);
  for (const auto& entry : copies_.master().frozen) entry.tensor.fill_(4);
  for (int tower = 0; tower < towers_.size(); ++tower) {
    copies_.renew(tower);
    copies_.renew_frozen(tower);
    EXPECT_TRUE(all_are(towers_.table(tower).trainable, 3));
    EXPECT_TRUE(all_are(towers_.table(tower).frozen, 4));
  }
}

TEST_P(ParameterCopiesTest, WhatIsLoadedIntoTheFirstTowerReachesAllOthersAndTheMaster) {
  torch::NoGradGuard no_grad;
  for (const auto& entry : towers_.table(0).trainable) entry.tensor.fill_(5);
  for (const auto& entry : towers_.table(0).frozen) entry.tensor.fill_(6);
  adopt_first(towers_);
  EXPECT_TRUE(all_are(copies_.master().trainable, 5));
  EXPECT_TRUE(all_are(copies_.master().frozen, 6));
  for (int tower = 0; tower < towers_.size(); ++tower) {
    EXPECT_TRUE(all_are(towers_.table(tower).trainable, 5));
    EXPECT_TRUE(all_are(towers_.table(tower).frozen, 6));
  }
}

TEST_P(ParameterCopiesTest, BuffersThatAreLoadedIntoTheFirstTowerReachAllOthers) {
  TowerGroup towers(GetParam().machine.devices(), testing::make_module<testing::NoisyImpl>,
                    {.placement = GetParam().placement});
  for (const auto& entry : towers.table(0).buffers) entry.tensor.fill_(5);
  adopt_first(towers);
  for (int tower = 0; tower < towers.size(); ++tower)
    EXPECT_TRUE(all_are(towers.table(tower).buffers, 5)) << tower;
}

TEST_P(ParameterCopiesTest, WhereTowersUpdateTheMasterGetsTheirShares) {
  if (!copies_.towers_update()) return;
  torch::NoGradGuard no_grad;
  const bool mirrored = copies_.placement() == ParameterPlacement::mirrored;
  for (int tower = 0; tower < towers_.size(); ++tower) {
    for (const auto& entry : towers_.table(tower).trainable)
      entry.tensor.fill_(mirrored ? 7 : 7 + tower);
  }
  for (int tower = 0; tower < towers_.size(); ++tower) copies_.publish(tower);
  std::int64_t elements = 0;
  for (int tower = 0; tower < towers_.size(); ++tower) {
    const auto& ranges = copies_.share(tower);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const at::Tensor own = elements_of(copies_.master().trainable[i].tensor, ranges[i]);
      EXPECT_TRUE(own.eq(mirrored ? 7 : 7 + tower).all().item<bool>());
      elements += ranges[i].size();
    }
  }
  EXPECT_EQ(elements, element_count(copies_.master().trainable)) << "every element once";
}

TEST_P(ParameterCopiesTest, WhereTowersUpdateTheMasterFollowsWhenItIsRead) {
  if (!copies_.towers_update()) return;
  torch::NoGradGuard no_grad;
  for (int tower = 0; tower < towers_.size(); ++tower) {
    for (const auto& entry : towers_.table(tower).trainable) entry.tensor.fill_(7);
  }
  copies_.note_update();
  EXPECT_TRUE(all_are(copies_.master().trainable, 7));
}

}  // namespace parameter_copies_test
}  // namespace pagoda
