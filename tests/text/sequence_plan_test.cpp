#include <pagoda/base/error.h>
#include <pagoda/text/sequence_plan.h>
#include <pagoda/text/text_codec.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "support/shared_data.h"

namespace pagoda {
namespace sequence_plan_test {

/// Lengths as a formula: source 1 to 40, target near it.
PairStore pairs_of(std::int64_t count) {
  PairStore pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t source = 1 + i * 7919 % 40;
    const std::int64_t target = std::max<std::int64_t>(1, source + i * 31 % 9 - 4);
    pairs.sources.add(std::vector<TokenId>(static_cast<std::size_t>(source), 5));
    pairs.targets.add(std::vector<TokenId>(static_cast<std::size_t>(target), 6));
  }
  return pairs;
}

std::vector<std::int64_t> sorted_pairs(const std::vector<SequencePlan::Batch>& batches) {
  std::vector<std::int64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  std::sort(all.begin(), all.end());
  return all;
}

/// Part of the tokens of an epoch that only fill up.
double waste(const PairStore& pairs, const std::vector<SequencePlan::Batch>& batches) {
  std::size_t used = 0;
  std::size_t all = 0;
  for (const auto& batch : batches) {
    std::size_t source = 0;
    std::size_t target = 0;
    for (const std::int64_t i : batch) {
      source = std::max(source, pairs.sources[i].size());
      target = std::max(target, pairs.targets[i].size() + 1);
      used += pairs.sources[i].size() + pairs.targets[i].size() + 1;
    }
    all += batch.size() * (source + target);
  }
  return 1 - static_cast<double>(used) / static_cast<double>(all);
}

TEST(SequencePlanTest, TheFirstStepsTakeOnlyTheFirstPairs) {
  const PairStore pairs = pairs_of(1000);
  const SequencePlan plan(pairs, 2, {.batch_size = 7, .feeds_per_tower = 3, .first_steps = 2});
  std::vector<std::int64_t> first(2 * 2 * 3 * 7);
  std::iota(first.begin(), first.end(), 0);
  EXPECT_EQ(sorted_pairs(plan.epoch(0)->batches()), first);
  EXPECT_EQ(plan.steps_of(plan.epoch(1)->size()), 2);
  EXPECT_EQ(SequencePlan(pairs_of(5), 1, {.batch_size = 7, .first_steps = 2}).pairs(), 5);
  const SequencePlan by_tokens(pairs, 1, {.batch_tokens = 500, .first_steps = 3});
  EXPECT_GT(by_tokens.pairs(), 3 * 500 / 2 / 81);
  EXPECT_LT(by_tokens.pairs(), 3 * 500 / 2);
}

TEST(SequencePlanTest, ReadsBuckets) {
  const auto buckets = parse_buckets("5:10,10:15,40:50");
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[2].source, 40);
  EXPECT_EQ(buckets[2].target, 50);
  for (const char* bad : {"", "5", "5:", ":5", "5:10,", "a:b", "0:5", "5:10:15", "5:1x"}) {
    EXPECT_THROW(parse_buckets(bad), UsageError) << bad;
  }
}

TEST(SequencePlanTest, EveryEpochHasEveryPairOnceInAnotherOrder) {
  for (const std::int64_t count : {1, 2, 63, 64, 65, 1009}) {
    const PairStore pairs = pairs_of(count);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(count));
    std::iota(expected.begin(), expected.end(), 0);
    for (const auto& options : std::vector<SequencePlanOptions>{
             {.batch_size = 8},
             {.batch_tokens = 300},
             {.batch_size = 8, .shuffle = false},
             {.batch_size = 8, .buckets = parse_buckets("10:20,60:60")}}) {
      const SequencePlan plan(pairs, 3, options);
      EXPECT_EQ(sorted_pairs(plan.epoch(0)->batches()), expected);
      EXPECT_EQ(sorted_pairs(plan.epoch(1)->batches()), expected);
      EXPECT_EQ(plan.epoch(1)->batches(), SequencePlan(pairs, 2, options).epoch(1)->batches())
          << "towers matter";
      if (count > 100) {
        EXPECT_EQ(plan.epoch(0)->batches() == plan.epoch(1)->batches(), !options.shuffle);
      }
    }
  }
}

TEST(SequencePlanTest, BatchesHaveTheSizeThatIsAskedFor) {
  const PairStore pairs = pairs_of(2000);
  const auto by_size = SequencePlan(pairs, 1, {.batch_size = 32}).epoch(0);
  for (const auto& batch : by_size->batches()) {
    EXPECT_TRUE(batch.size() == 32 || batch.size() == 2000 % 32) << batch.size();
  }
  std::size_t small = 0;
  const auto by_tokens = SequencePlan(pairs, 1, {.batch_tokens = 640}).epoch(0);
  for (const auto& batch : by_tokens->batches()) {
    std::size_t source = 0;
    std::size_t target = 0;
    for (const std::int64_t i : batch) {
      source = std::max(source, pairs.sources[i].size());
      target = std::max(target, pairs.targets[i].size() + 1);
    }
    EXPECT_LE(batch.size() * (source + target), 640u);
    small += batch.size() * (source + target) < 500;
  }
  EXPECT_LE(small, 5u);
}

TEST(SequencePlanTest, ALoneLongPairIsABatch) {
  const PairStore pairs = pairs_of(50);
  EXPECT_EQ(SequencePlan(pairs, 1, {.batch_tokens = 3}).epoch(0)->batches().size(), 50u);
}

TEST(SequencePlanTest, BucketsHoldWhatFitsAndLeaveOutTheRest) {
  const PairStore pairs = pairs_of(500);
  const SequencePlan plan(pairs, 1, {.batch_size = 16, .buckets = parse_buckets("5:10,20:25")});
  std::int64_t fitting = 0;
  for (std::int64_t i = 0; i < pairs.size(); ++i) fitting += pairs.sources[i].size() <= 20;
  EXPECT_EQ(plan.pairs(), fitting);
  EXPECT_EQ(plan.left_out(), 500 - fitting);
  const auto epoch = plan.epoch(0);
  for (const auto& batch : epoch->batches()) {
    const auto is_small = [&](std::int64_t i) {
      return pairs.sources[i].size() <= 5 && pairs.targets[i].size() <= 10;
    };
    const auto small = std::count_if(batch.begin(), batch.end(), is_small);
    EXPECT_TRUE(small == 0 || small == static_cast<std::ptrdiff_t>(batch.size()));
  }
  PairStore long_pair;
  long_pair.sources.add(std::vector<TokenId>{5, 5});
  long_pair.targets.add(std::vector<TokenId>{6});
  EXPECT_THROW(SequencePlan(long_pair, 1, {.buckets = parse_buckets("1:1")}), UsageError);
}

TEST(SequencePlanTest, SimilarLengthsWasteLittle) {
  const PairStore pairs = pairs_of(20'000);
  EXPECT_LT(waste(pairs, SequencePlan(pairs, 1, {.batch_size = 64}).epoch(0)->batches()), 0.1);
  EXPECT_LT(waste(pairs, SequencePlan(pairs, 1, {.batch_tokens = 4000}).epoch(0)->batches()), 0.1);
}

TEST(SequencePlanTest, RealTextWastesLittle) {
  const auto folder = testing::shared_data() / "multi30k";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const TextCodec words(make_word_tokenizer(), Vocabulary());
  const auto reader =
      open_pairs({.source = {folder / "train.en.gz"}, .target = {folder / "train.fr.gz"}});
  const PairStore pairs = encode_pairs(*reader, words, words).pairs;
  EXPECT_LT(waste(pairs, SequencePlan(pairs, 1, {.batch_size = 64}).epoch(0)->batches()), 0.1);
}

TEST(SequencePlanTest, FindsTheBatchOfAPosition) {
  const PairStore pairs = pairs_of(100);
  const auto epoch = SequencePlan(pairs, 1, {.batch_size = 32}).epoch(0);
  EXPECT_EQ(epoch->batch_after(0), 0u);
  EXPECT_EQ(epoch->batch_after(static_cast<std::int64_t>((*epoch)[0].size())), 1u);
  EXPECT_EQ(epoch->batch_after(100), epoch->size());
  EXPECT_THROW(epoch->batch_after(1), UsageError);
  EXPECT_THROW(epoch->batch_after(101), UsageError);
}

TEST(SequencePlanTest, ComputesAnEpochOnceForAllWhoHoldIt) {
  const PairStore pairs = pairs_of(100);
  const SequencePlan plan(pairs, 3, {.batch_size = 8});
  auto first = plan.epoch(0);
  EXPECT_EQ(plan.epoch(0), first);
  EXPECT_EQ(plan.epochs_computed(), 1);
  const auto second = plan.epoch(1);
  EXPECT_EQ(second->number(), 1);
  EXPECT_EQ(plan.epochs_computed(), 2);
  EXPECT_EQ(plan.steps_of(0), 0);
  EXPECT_EQ(plan.steps_of(3), 1);
  EXPECT_EQ(plan.steps_of(4), 2);
}

TEST(SequencePlanTest, RefusesNumbersThatCannotBe) {
  const PairStore pairs = pairs_of(10);
  EXPECT_THROW(SequencePlan(pairs, 0, {}), UsageError);
  EXPECT_THROW(SequencePlan(pairs, 1, {.batch_size = 0}), UsageError);
  EXPECT_THROW(SequencePlan(pairs, 1, {.batch_tokens = 0}), UsageError);
  EXPECT_THROW(SequencePlan(PairStore(), 1, {}), UsageError);
}

}  // namespace sequence_plan_test
}  // namespace pagoda
