#include "seq2seq/seq2seq_measuring.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

namespace pagoda::app {
namespace seq2seq_measuring_test {

TEST(Seq2SeqMeasuringTest, JoinedPairsCountAsAllOfThem) {
  const at::Tensor source = at::arange(15).view({5, 3});
  const at::Tensor lengths = at::full({5}, 3, at::kLong);
  const at::Tensor target = at::arange(20).view({5, 4});
  std::vector<SequenceBatch> parts;
  std::int64_t begin = 0;
  for (const std::int64_t count : {2, 1, 2}) {
    parts.push_back({.source = source.narrow(0, begin, count),
                     .source_lengths = lengths.narrow(0, begin, count),
                     .target = target.narrow(0, begin, count),
                     .tokens = 3.0 * static_cast<double>(count),
                     .step_seed = 7});
    begin += count;
  }
  const SequenceBatch joined = join_pairs(parts);
  EXPECT_TRUE(joined.source.equal(source));
  EXPECT_TRUE(joined.source_lengths.equal(lengths));
  EXPECT_TRUE(joined.target.equal(target));
  EXPECT_EQ(joined.weight(), 15);
  EXPECT_EQ(joined.step_seed, 7u);
}

}  // namespace seq2seq_measuring_test
}  // namespace pagoda::app
