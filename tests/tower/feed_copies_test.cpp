#include "tower/feed_copies.h"

#include <pagoda/base/error.h>
#include <pagoda/tower/tower_group.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/machines.h"
#include "support/small_models.h"

namespace pagoda {
namespace feed_copies_test {

using testing::Machine;

TEST(FeedCopiesTest, ACopyIsThereOnceItWasTaken) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  FeedCopies copies(Machine(2, testing::kCardKind).devices());
  const at::Tensor host = torch::arange(60.0).reshape({3, 20});
  const at::Tensor card = copies.begin(copies.pinned(host, 1), 1);
  EXPECT_EQ(card.device().str(), "sim:1");
  EXPECT_THROW(card.sum(), UsageError) << "the tower's stream has not waited";
  copies.take(card);
  EXPECT_EQ(card.sum().item<double>(), 59.0 * 60 / 2);
  copies.take(card);  // nothing more to wait for
}

TEST(FeedCopiesTest, AnotherTowersCardCanTakeACopyOver) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const TowerGroup towers(Machine(2, testing::kCardKind).devices(),
                          testing::make_module<testing::MlpImpl>);
  FeedCopies& copies = towers.replicas()->feed_copies();
  const at::Tensor host = torch::arange(60.0);
  const at::Tensor card = copies.begin(copies.pinned(host, 1), 1);
  const at::Tensor moved = towers.replicas()->on_tower(card, 0);
  EXPECT_EQ(moved.device().str(), "sim:0");
  EXPECT_EQ(moved.sum().item<double>(), 59.0 * 60 / 2);
}

TEST(FeedCopiesTest, PinnedMemoryKeepsLayoutAndNumbers) {
  const FeedCopies copies(Machine(1, testing::kCardKind).devices());
  for (const at::Tensor& tensor :
       {torch::rand({2, 3, 5, 7}).contiguous(at::MemoryFormat::ChannelsLast),
        torch::arange(12).reshape({3, 4}).t(), torch::arange(12).slice(0, 0, 12, 5),
        torch::ones({1}).expand({4}), torch::ones({})}) {
    const at::Tensor pinned = copies.pinned(tensor, 0);
    EXPECT_TRUE(pinned.is_pinned());
    EXPECT_TRUE(pinned.equal(tensor));
    EXPECT_EQ(pinned.scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(!tensor.is_non_overlapping_and_dense() || pinned.strides() == tensor.strides());
    EXPECT_TRUE(copies.pinned(pinned, 0).is_same(pinned)) << "no needless copy";
  }
}

TEST(FeedCopiesTest, CpuTowersAndOddTensorsAreLeftAlone) {
  FeedCopies copies(Machine(1).devices());
  const at::Tensor host = torch::ones({3});
  EXPECT_TRUE(copies.pinned(host, 0).is_same(host));
  EXPECT_TRUE(copies.begin(host, 0).is_same(host));
  FeedCopies cards(Machine(2, testing::kCardKind).devices());
  EXPECT_FALSE(cards.begin(at::Tensor(), 1).defined());
  EXPECT_FALSE(cards.pinned(at::Tensor(), 1).defined());
  const at::Tensor elsewhere = torch::ones({3}, testing::on_card(0));
  EXPECT_TRUE(cards.begin(elsewhere, 1).is_same(elsewhere)) << "its tower will move it";
}

}  // namespace feed_copies_test
}  // namespace pagoda
