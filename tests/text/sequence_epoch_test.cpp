#include <pagoda/base/error.h>
#include <pagoda/text/sequence_epoch.h>

#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace sequence_epoch_test {

/// Batches of 1, 2, … pairs: batch i begins after i (i + 1) / 2.
SequenceEpoch growing(std::int64_t batches) {
  std::vector<SequenceEpoch::Batch> all;
  for (std::int64_t i = 0; i < batches; ++i) {
    all.emplace_back(static_cast<std::size_t>(i + 1), i);
  }
  return {7, std::move(all)};
}

TEST(SequenceEpochTest, KnowsWhereEachBatchBegins) {
  for (const std::int64_t batches : {0, 1, 2, 31}) {
    const SequenceEpoch epoch = growing(batches);
    EXPECT_EQ(epoch.number(), 7);
    ASSERT_EQ(epoch.size(), static_cast<std::size_t>(batches));
    for (std::int64_t i = 0; i <= batches; ++i) {
      const auto batch = static_cast<std::size_t>(i);
      EXPECT_EQ(epoch.pairs_before(batch), i * (i + 1) / 2);
      EXPECT_EQ(epoch.batch_after(i * (i + 1) / 2), batch);
    }
    for (std::size_t i = 0; i < epoch.size(); ++i) EXPECT_EQ(epoch[i].size(), i + 1);
  }
}

TEST(SequenceEpochTest, RefusesAPositionWithinABatchOrPastTheEnd) {
  const SequenceEpoch epoch = growing(4);
  for (const std::int64_t within : {-1, 2, 4, 5, 9, 11}) {
    EXPECT_THROW(epoch.batch_after(within), UsageError) << within;
  }
}

}  // namespace sequence_epoch_test
}  // namespace pagoda
