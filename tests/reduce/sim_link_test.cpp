// What NCCL would hang on, or take for something else, is an error here.

#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <functional>
#include <memory>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "reduce/card_link.h"
#include "support/machines.h"
#include "support/small_models.h"

namespace pagoda {
namespace sim_link_test {

using testing::Machine;

class SimLinkTest : public ::testing::Test {
 protected:
  void SetUp() override { PAGODA_NEEDS_SIMULATED_CARDS(); }

  TowerGroup towers_{Machine(2, testing::kCardKind).devices(),
                     testing::make_module<testing::MlpImpl>,
                     {.placement = ParameterPlacement::mirrored}};
  std::unique_ptr<CardLink> link_ = make_card_link(*towers_.replicas());

  at::Tensor values(int tower, at::ScalarType type = at::kFloat, std::int64_t count = 5) {
    return at::full({count}, tower + 1, towers_.device(tower).torch_device()).to(type);
  }
};

TEST_F(SimLinkTest, SumsEveryFloatingPointType) {
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor first = values(0, type);
    const at::Tensor second = values(1, type);
    link_->start_sum(0, first);
    link_->start_sum(1, second);
    link_->wait(0);
    link_->wait(1);
    EXPECT_TRUE(first.cpu().equal(at::full({5}, 3, type)));
    EXPECT_TRUE(second.cpu().equal(at::full({5}, 3, type)));
  }
}

TEST_F(SimLinkTest, RefusesTypesThatCardsDoNotSum) {
  EXPECT_THROW(link_->start_sum(0, values(0, at::kInt)), UsageError);
  EXPECT_THROW(link_->start_broadcast(1, 0, values(1, at::kLong)), UsageError);
}

TEST_F(SimLinkTest, CallsInDifferentOrdersAreAnError) {
  const std::vector<std::function<void()>> others = {
      [&] { link_->start_broadcast(1, 0, values(1)); },
      [&] { link_->start_sum(1, values(1, at::kFloat, 4)); },
      [&] { link_->start_sum(1, values(1, at::kDouble)); },
  };
  for (const auto& other : others) {
    link_->start_sum(0, values(0));
    EXPECT_THROW(other(), DeviceError);
    link_->abort();
    link_->reset();
  }
  link_->start_broadcast(0, 0, values(0));
  EXPECT_THROW(link_->start_broadcast(1, 1, values(1)), DeviceError);
}

TEST_F(SimLinkTest, AfterAnAbortNothingStarts) {
  link_->abort();
  EXPECT_THROW(link_->start_sum(0, values(0)), TowerInterrupted);
  EXPECT_THROW(link_->start_broadcast(1, 0, values(1)), TowerInterrupted);
  EXPECT_THROW(link_->wait(0), TowerInterrupted);
  link_->reset();
  link_->start_sum(0, values(0));
}

}  // namespace sim_link_test
}  // namespace pagoda
