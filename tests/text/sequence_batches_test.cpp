#include <pagoda/base/error.h>
#include <pagoda/text/sequence_batches.h>

#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace sequence_batches_test {

PairStore pairs_of(std::int64_t count) {
  PairStore pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<TokenId>(10 + i);
    pairs.sources.add(std::vector<TokenId>(static_cast<std::size_t>(1 + i * 5 % 7), id));
    pairs.targets.add(std::vector<TokenId>(static_cast<std::size_t>(1 + i * 3 % 5), id));
  }
  return pairs;
}

TEST(SequenceBatchTest, FillsUpAndCountsTokens) {
  PairStore pairs;
  pairs.sources.add(std::vector<TokenId>{7, 8, 9});
  pairs.targets.add(std::vector<TokenId>{5});
  pairs.sources.add(std::vector<TokenId>{4});
  pairs.targets.add(std::vector<TokenId>{6, 7});
  const SequenceBatch batch = sequence_batch(pairs, {1, 0});
  EXPECT_TRUE(batch.source.equal(torch::tensor({{4, 0, 0}, {7, 8, 9}}, torch::kLong)));
  EXPECT_TRUE(batch.source_lengths.equal(torch::tensor({1, 3}, torch::kLong)));
  EXPECT_TRUE(batch.target.equal(torch::tensor({{2, 6, 7, 3}, {2, 5, 3, 0}}, torch::kLong)));
  EXPECT_EQ(batch.weight(), 5);
  EXPECT_EQ(batch.sample_numbers(), (std::vector<std::int64_t>{1, 0}));

  const SequenceBatch moved = batch.with_tensors([](const at::Tensor& t) { return t + 1; });
  EXPECT_TRUE(moved.source.equal(batch.source + 1));
  EXPECT_TRUE(moved.source_lengths.equal(batch.source_lengths + 1));
  EXPECT_TRUE(moved.target.equal(batch.target + 1));
  EXPECT_EQ(moved.weight(), 5);

  const SequenceBatch sources = source_batch({{7, 8, 9}, {4}});
  EXPECT_TRUE(sources.source.equal(torch::tensor({{7, 8, 9}, {4, 0, 0}}, torch::kLong)));
}

struct StepRecord {
  std::vector<std::vector<std::int64_t>> feeds;
  std::uint64_t seed;
  DataPosition after;

  bool operator==(const StepRecord& other) const {
    return feeds == other.feeds && seed == other.seed && after.epoch == other.after.epoch &&
           after.consumed == other.after.consumed;
  }
};

std::vector<StepRecord> run_of(const PairStore& pairs, int towers,
                               const SequenceBatchesOptions& options) {
  SequenceBatches data(pairs, towers, options);
  std::vector<StepRecord> run;
  for (const auto& feeds : data) {
    run.push_back({{}, feeds.front().step_seed, feeds.after});
    for (const auto& feed : feeds) {
      run.back().feeds.push_back(feed.samples);
      EXPECT_EQ(feed.step_seed, run.back().seed);
    }
  }
  return run;
}

TEST(SequenceBatchesTest, GoesOnFromAnyPosition) {
  const PairStore pairs = pairs_of(101);
  for (const auto& plan : std::vector<SequencePlanOptions>{
           {.batch_size = 8, .seed = 3},
           {.batch_tokens = 60, .seed = 3},
           {.batch_size = 4, .feeds_per_tower = 2, .buckets = parse_buckets("3:3,9:9")}}) {
    const SequenceBatchesOptions options{.plan = plan, .epochs = 3, .loader_threads = 2};
    const auto whole = run_of(pairs, 2, options);
    EXPECT_EQ(whole.back().after.epoch, 3);
    for (std::size_t done = 0; done < whole.size(); ++done) {
      auto rest = options;
      rest.start = whole[done].after;
      rest.epochs = 3 - rest.start.epoch;
      if (rest.epochs == 0) continue;
      const auto after = run_of(pairs, 2, rest);
      ASSERT_EQ(after, std::vector<StepRecord>(
                           whole.begin() + static_cast<std::ptrdiff_t>(done) + 1, whole.end()));
    }
  }
}

TEST(SequenceBatchesTest, TheEndOfAnEpochIsTheBeginningOfTheNext) {
  const PairStore pairs = pairs_of(10);
  SequenceBatchesOptions options{.plan = {.batch_size = 4, .seed = 3}, .epochs = 2};
  options.start = {.epoch = 0, .consumed = pairs.size()};
  const auto found = run_of(pairs, 1, options);
  options.start = {.epoch = 1, .consumed = 0};
  options.epochs = 1;
  EXPECT_EQ(found, run_of(pairs, 1, options));
  options.start = {.epoch = 0, .consumed = pairs.size()};
  EXPECT_TRUE(run_of(pairs, 1, options).empty());
}

TEST(SequenceBatchesTest, ThreadsAndTowersDoNotChangeTheOrder) {
  const PairStore pairs = pairs_of(50);
  const auto flat = [&](int towers, int threads) {
    std::vector<std::vector<std::int64_t>> batches;
    const SequenceBatchesOptions options{
        .plan = {.batch_size = 16}, .epochs = 9, .loader_threads = threads, .prefetch_steps = 5};
    for (const auto& step : run_of(pairs, towers, options)) {
      batches.insert(batches.end(), step.feeds.begin(), step.feeds.end());
    }
    return batches;
  };
  const auto expected = flat(1, 1);
  EXPECT_EQ(expected.size(), 9u * 4);
  for (const int towers : {1, 2, 3, 8}) EXPECT_EQ(flat(towers, 3), expected);
}

TEST(SequenceBatchesTest, ChangesEachPairByASeedOfItsOwnInEveryEpoch) {
  const PairStore pairs = pairs_of(50);
  // The seed in the place of the tokens: one token, or as many as before.
  const TokenChange source = [](std::span<const TokenId>, std::uint64_t seed) {
    return std::vector<TokenId>{static_cast<TokenId>(4 + seed % 1'000'000)};
  };
  const TokenChange target = [](std::span<const TokenId> tokens, std::uint64_t seed) {
    return std::vector<TokenId>(tokens.size() + 1, static_cast<TokenId>(4 + seed % 1'000'000));
  };
  using Seeds =
      std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>>;
  const auto seeds_of = [&](int towers, DataPosition start) {
    Seeds seeds;
    SequenceBatches data(pairs, towers,
                         {.plan = {.batch_size = 4, .seed = 3},
                          .epochs = 2 - start.epoch,
                          .start = start,
                          .loader_threads = 3,
                          .change_source = source,
                          .change_target = target});
    std::int64_t epoch = start.epoch;
    for (const auto& feeds : data) {
      for (const auto& feed : feeds) {
        double tokens = 0;
        for (std::size_t i = 0; i < feed.samples.size(); ++i) {
          const auto row = static_cast<std::int64_t>(i);
          const auto length = std::ssize(pairs.targets[feed.samples[i]]) + 1;
          tokens += static_cast<double>(length) + 1;
          EXPECT_EQ(feed.source_lengths[row].item<std::int64_t>(), 1);
          EXPECT_EQ(feed.target[row][length + 1].item<std::int64_t>(), kEnd);
          seeds[{epoch, feed.samples[i]}] = {feed.source[row][0].item<std::int64_t>(),
                                             feed.target[row][length].item<std::int64_t>()};
        }
        EXPECT_EQ(feed.tokens, tokens);
      }
      epoch = feeds.after.epoch;
    }
    return seeds;
  };
  const Seeds whole = seeds_of(1, {});
  ASSERT_EQ(whole.size(), 100u);
  std::set<std::int64_t> different;
  for (const auto& [pair, seeds] : whole) different.insert({seeds.first, seeds.second});
  EXPECT_GT(different.size(), 195u) << "of every epoch, pair and side its own";
  EXPECT_EQ(seeds_of(3, {}), whole);
  for (const auto& [pair, seeds] : seeds_of(2, {.epoch = 1, .consumed = 0})) {
    EXPECT_EQ(whole.at(pair), seeds);
  }
}

TEST(SequenceBatchesTest, ProcessesMakeTheFeedsOfTheirTowersAndTogetherAllOfThem) {
  const PairStore pairs = pairs_of(101);
  const SequenceBatchesOptions options{.plan = {.batch_size = 8, .seed = 3}, .epochs = 2};
  SequenceBatches first(pairs, TowerShare(0, 2, 3), options);
  SequenceBatches second(pairs, TowerShare(2, 1, 3), options);
  for (auto& all : SequenceBatches(pairs, 3, options)) {
    const auto* parts = first.next();
    const auto* part = second.next();
    ASSERT_NE(parts, nullptr);
    ASSERT_NE(part, nullptr);
    ASSERT_EQ(parts->size() + part->size(), all.size());
    for (std::size_t feed = 0; feed < all.size(); ++feed) {
      const SequenceBatch& found = feed == 2 ? (*part)[0] : (*parts)[feed];
      EXPECT_EQ(found.samples, all[feed].samples);
      EXPECT_EQ(found.step_seed, all[feed].step_seed);
    }
    EXPECT_EQ(parts->after, all.after);
    EXPECT_EQ(part->after, all.after);
  }
  EXPECT_EQ(first.next(), nullptr);
  EXPECT_EQ(second.next(), nullptr);
}

TEST(SequenceBatchesTest, SharesAPlanAndComputesEachEpochOnce) {
  const PairStore pairs = pairs_of(101);
  const SequenceBatchesOptions options{.plan = {.batch_size = 8, .seed = 3}, .epochs = 3};
  const auto plan = std::make_shared<const SequencePlan>(pairs, 2, options.plan);
  const auto first = plan->epoch(0);  // as a caller who counts its steps
  SequenceBatches data(pairs, 2, plan, options);
  std::vector<std::int64_t> consumed;
  for (const auto& feeds : data) consumed.push_back(feeds.after.consumed);
  EXPECT_EQ(plan->epochs_computed(), 3);
  std::vector<std::int64_t> expected;
  for (const auto& step : run_of(pairs, 2, options)) expected.push_back(step.after.consumed);
  EXPECT_EQ(consumed, expected);
}

TEST(SequenceBatchesTest, RefusesAStartWithinABatchAndBadNumbers) {
  const PairStore pairs = pairs_of(50);
  EXPECT_THROW(SequenceBatches(pairs, 1, {.start = {0, 1}}), UsageError);
  EXPECT_THROW(SequenceBatches(pairs, 1, {.epochs = 0}), UsageError);
  EXPECT_THROW(SequenceBatches(pairs, 1, {.loader_threads = 0}), UsageError);
}

}  // namespace sequence_batches_test
}  // namespace pagoda
