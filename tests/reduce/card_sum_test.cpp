// On simulated cards, whose link does through the host what NCCL does.

#include "reduce/card_sum.h"

#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/machines.h"
#include "support/small_models.h"
#include "tower/parameter_copies.h"

namespace pagoda {
namespace card_sum_test {

using testing::BranchingImpl;
using testing::Machine;

/// Parameters: towers, bytes of a bucket.
class CardSumTest : public ::testing::TestWithParam<std::tuple<int, std::int64_t>> {
 protected:
  TowerGroup towers_{Machine(std::get<0>(GetParam()), testing::kCardKind).devices(),
                     testing::make_module<BranchingImpl>,
                     {.placement = ParameterPlacement::spread}};
  CardSum sum_{towers_.replicas(), make_card_link(*towers_.replicas()), std::get<1>(GetParam())};

  /// Backward on every tower, whose samples are its number: `sometimes` is used by few.
  void run_step() {
    towers_.run({.name = "test"}, [this](TowerJob& job) {
      auto& model = dynamic_cast<BranchingImpl&>(towers_.module(job.tower));
      sum_.begin(job.tower);
      const at::Tensor input = towers_.on_tower(input_of(job.tower), job.tower);
      model.forward(input).sum().backward();
      sum_.end(job.tower);
    });
  }

  static at::Tensor input_of(int tower) {
    return testing::waves({3, testing::kInputs}, 3 * tower, 0.7).to(torch::kFloat);
  }
};
INSTANTIATE_TEST_SUITE_P(Cards, CardSumTest,
                         ::testing::Combine(::testing::Values(2, 3, 4),
                                            ::testing::Values(1, 80, std::int64_t{25 << 20})));

TEST_P(CardSumTest, EveryTowerGetsTheSumOfAll) {
  BranchingImpl plain;
  const ParameterTable table = table_of(plain);
  {
    torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < table.trainable.size(); ++i)
      table.trainable[i].tensor.copy_(towers_.master().trainable[i].tensor);
  }
  for (int tower = 0; tower < towers_.size(); ++tower)
    plain.forward(input_of(tower)).sum().backward();

  for (int step = 0; step < 2; ++step) {
    run_step();
    for (int tower = 0; tower < towers_.size(); ++tower) {
      for (std::size_t i = 0; i < table.trainable.size(); ++i) {
        const at::Tensor expected = table.trainable[i].tensor.grad();
        at::Tensor& found = towers_.table(tower).trainable[i].tensor.mutable_grad();
        ASSERT_EQ(found.defined(), expected.defined()) << table.trainable[i].name;
        if (!expected.defined()) continue;
        EXPECT_TRUE(found.device() == towers_.device(tower).torch_device());
        EXPECT_TRUE(found.to(at::kCPU).allclose(expected, 1e-5, 1e-6)) << table.trainable[i].name;
        found.reset();
      }
    }
  }
}

TEST(NarrowCardSumTest, SumsInBf16AreRoundedAndTheSameOnAllCards) {
  TowerGroup towers(Machine(3, DeviceKind::sim).devices(), testing::make_module<BranchingImpl>,
                    {.placement = ParameterPlacement::spread});
  CardSum sum(towers.replicas(), make_card_link(*towers.replicas()), 80, at::kBFloat16);
  towers.run({.name = "test"}, [&](TowerJob& job) {
    at::Tensor& gradient = towers.table(job.tower).trainable[0].tensor.mutable_grad();
    gradient = torch::full_like(towers.table(job.tower).trainable[0].tensor, 1 + job.tower / 512.0);
    sum.end(job.tower);
  });
  const float rounded = (torch::full({1}, 1.0F, torch::kBFloat16) +
                         torch::full({1}, 1 + 1 / 512.0F, torch::kBFloat16) +
                         torch::full({1}, 1 + 2 / 512.0F, torch::kBFloat16))
                            .item<float>();
  for (int tower = 0; tower < towers.size(); ++tower) {
    const at::Tensor found = towers.table(tower).trainable[0].tensor.grad();
    EXPECT_EQ(found.scalar_type(), at::kFloat);
    EXPECT_TRUE(found.to(at::kCPU).eq(rounded).all().item<bool>()) << found;
  }
}

TEST_P(CardSumTest, SharesAreExchanged) {
  torch::NoGradGuard no_grad;
  towers_.run({.name = "test"}, [this](TowerJob& job) {
    torch::NoGradGuard no_grad_here;
    for (const auto& entry : towers_.table(job.tower).trainable) entry.tensor.fill_(job.tower + 1);
    sum_.exchange(job.tower);
  });
  for (int tower = 0; tower < towers_.size(); ++tower) {
    for (int owner = 0; owner < towers_.size(); ++owner) {
      for (std::size_t i = 0; i < towers_.replicas()->copies().share(owner).size(); ++i) {
        const at::Tensor values = elements_of(towers_.table(tower).trainable[i].tensor,
                                              towers_.replicas()->copies().share(owner)[i]);
        EXPECT_TRUE(values.to(at::kCPU).eq(owner + 1).all().item<bool>());
      }
    }
  }
}

TEST_P(CardSumTest, ATowerThatFailsLetsTheOthersGoAndIsTheOneThatIsReported) {
  const int bad = towers_.size() - 1;
  const auto error = testing::thrown_by<TowerError>([&] {
    towers_.run({.name = "test"}, [&](TowerJob& job) {
      if (job.tower == bad) {
        sum_.abort();
        throw DeviceError("lost");
      }
      sum_.end(job.tower);
    });
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->tower(), bad);
  sum_.reset();
  run_step();
}

TEST(LateGradientTest, AGradientThatChangesAfterItHasLeftIsAnError) {
  TowerGroup towers(Machine(2, testing::kCardKind).devices(),
                    testing::make_module<testing::MlpImpl>,
                    {.placement = ParameterPlacement::spread});
  CardSum sum(towers.replicas(), make_card_link(*towers.replicas()), /*bucket_bytes=*/1);
  const std::string text = testing::message_of<UsageError>([&] {
    towers.run({.name = "test"}, [&](TowerJob& job) {
      auto& model = dynamic_cast<testing::MlpImpl&>(towers.module(job.tower));
      const at::Tensor input = towers.on_tower(at::ones({2, testing::kInputs}), job.tower);
      sum.begin(job.tower);
      try {
        model.forward(input).sum().backward();
        model.forward(input).sum().backward();  // as one inside of the first would
        sum.end(job.tower);
      } catch (...) {
        sum.abort();
        throw;
      }
    });
  });
  EXPECT_NE(text.find("had left for the other cards"), std::string::npos) << text;
}

TEST(CardSumBucketsTest, AreAnEighthOfTheGradientWithinLimits) {
  EXPECT_EQ(CardSum::bucket_bytes(10'000), 1 << 20);
  EXPECT_EQ(CardSum::bucket_bytes(80'000'000), 10'000'000);
  EXPECT_EQ(CardSum::bucket_bytes(std::int64_t{4} << 30), 25 << 20);
}

TEST(CardLinkTest, OnlySeveralCardsOfOneKindThatUpdateHaveOne) {
  const auto link_of = [](const std::vector<Device>& devices,
                          ParameterPlacement placement = ParameterPlacement::spread) {
    const TowerGroup towers(devices, testing::make_module<BranchingImpl>, {.placement = placement});
    return make_card_link(*towers.replicas()) != nullptr;
  };
  EXPECT_FALSE(link_of(Machine(2).devices()));
  EXPECT_FALSE(link_of(Machine(1, testing::kCardKind).devices()));
  EXPECT_TRUE(link_of(Machine(2, testing::kCardKind).devices()));
  EXPECT_TRUE(link_of(Machine(2, testing::kCardKind).devices(), ParameterPlacement::mirrored));
  EXPECT_FALSE(link_of(Machine(2, testing::kCardKind).devices(), ParameterPlacement::host));
  auto mixed = Machine(1, testing::kCardKind).devices();
  mixed.push_back(Machine(1).devices()[0]);
  EXPECT_FALSE(link_of(mixed));
}

}  // namespace card_sum_test
}  // namespace pagoda
