#include <pagoda/base/error.h>
#include <pagoda/data/batches.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace batches_test {

constexpr std::int64_t kSamples = 101;

using Numbers = std::vector<std::int64_t>;

/// Sample i of epoch e is 1000 e + i; sample `bad` cannot be read.
class NumberDataset : public Dataset {
 public:
  explicit NumberDataset(std::int64_t bad = -1) : bad_(bad) {}

  std::int64_t size() const override { return kSamples; }

  Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override {
    const Numbers numbers(samples.begin(), samples.end());
    if (std::ranges::find(numbers, bad_) != numbers.end()) throw std::runtime_error("unreadable");
    const at::Tensor values = torch::tensor(numbers, torch::kLong) + 1000 * epoch;
    return {.input = values, .target = -values};
  }

 private:
  std::int64_t bad_;
};

Numbers values_of(const Batch& batch) {
  const auto* data = batch.input.const_data_ptr<std::int64_t>();
  return {data, data + batch.input.numel()};
}

/// All that comes out: for each step the values of each feed.
using RunSamples = std::vector<std::vector<Numbers>>;

RunSamples run_of(Batches data) {
  RunSamples run;
  while (const Feeds* feeds = data.next()) {
    run.emplace_back();
    for (const Batch& feed : *feeds) run.back().push_back(values_of(feed));
  }
  return run;
}

Numbers flat(const RunSamples& run) {
  Numbers all;
  for (const auto& step : run) {
    for (const auto& feed : step) all.insert(all.end(), feed.begin(), feed.end());
  }
  return all;
}

TEST(BatchesTest, EveryEpochVisitsEverySampleOnceInAnOrderThatTowersDoNotChange) {
  const NumberDataset data;
  const Numbers expected = flat(run_of(batches(data, 1, {.batch_size = 1, .epochs = 3})));
  Numbers sorted = expected;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto begin = sorted.begin() + epoch * kSamples;
    std::sort(begin, begin + kSamples);
    for (std::int64_t i = 0; i < kSamples; ++i) ASSERT_EQ(begin[i], 1000 * epoch + i);
  }
  ASSERT_EQ(sorted.size(), 3u * kSamples);

  for (const int towers : {1, 2, 3, 8}) {
    for (const std::int64_t batch_size : {1, 7, 50, 51, 101, 102}) {
      for (const int feeds : {1, 2}) {
        const BatchesOptions options{
            .batch_size = batch_size, .feeds_per_tower = feeds, .epochs = 3, .loader_threads = 2};
        EXPECT_EQ(flat(run_of(batches(data, towers, options))), expected)
            << towers << " towers, batch " << batch_size << ", " << feeds << " feeds";
      }
    }
  }
}

TEST(BatchesTest, ProcessesMakeTheFeedsOfTheirTowersAndTogetherAllOfThem) {
  const NumberDataset data;
  const BatchesOptions options{.batch_size = 7, .feeds_per_tower = 2, .epochs = 2};
  const std::vector<int> towers{1, 3, 2};
  std::vector<Batches> processes;
  int first = 0;
  for (const int own : towers) {
    processes.push_back(batches(data, TowerShare(first, own, 6), options));
    first += own;
  }
  for (Feeds& all : batches(data, 6, options)) {
    std::vector<Feeds*> parts;
    for (Batches& process : processes) {
      parts.push_back(process.next());
      ASSERT_NE(parts.back(), nullptr);
      EXPECT_EQ(parts.back()->after, all.after);
    }
    // Feed f is that of tower f mod 6; a process deals its feeds out to its own towers in turn.
    std::vector<std::size_t> taken(towers.size());
    for (std::size_t feed = 0; feed < all.size(); ++feed) {
      const std::size_t tower = feed % 6;
      const std::size_t process = tower < 1 ? 0 : tower < 4 ? 1 : 2;
      ASSERT_LT(taken[process], parts[process]->size());
      EXPECT_EQ(values_of((*parts[process])[taken[process]++]), values_of(all[feed]));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(taken[i], parts[i]->size());
  }
  for (Batches& process : processes) EXPECT_EQ(process.next(), nullptr);
}

TEST(BatchesTest, TheNumberOfThreadsDoesNotChangeAnything) {
  const NumberDataset data;
  const RunSamples expected = run_of(batches(data, 3, {.batch_size = 7, .epochs = 3}));
  for (const int threads : {1, 2, 5}) {
    for (const int ahead : {1, 4, 100}) {
      const BatchesOptions options{
          .batch_size = 7, .epochs = 3, .loader_threads = threads, .prefetch_steps = ahead};
      EXPECT_EQ(run_of(batches(data, 3, options)), expected)
          << threads << " threads, " << ahead << " ahead";
    }
  }
}

TEST(BatchesTest, SeedAndShuffleDecideTheOrder) {
  const NumberDataset data;
  const RunSamples seed0 = run_of(batches(data, 2, {.batch_size = 7}));
  EXPECT_NE(run_of(batches(data, 2, {.batch_size = 7, .seed = 1})), seed0);
  Numbers all(kSamples);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(flat(run_of(batches(data, 2, {.batch_size = 7, .shuffle = false}))), all);
}

TEST(BatchesTest, GoesOnFromEveryPositionWithAnyNumberOfTowers) {
  constexpr std::int64_t kEpochs = 2;
  const NumberDataset data;
  const BatchesOptions options{.batch_size = 7, .epochs = kEpochs};
  const RunSamples whole = run_of(batches(data, 3, options));

  Batches stepwise = batches(data, 3, options);
  for (std::size_t done = 1; done <= whole.size(); ++done) {
    const DataPosition position = stepwise.next()->after;
    if (position.epoch == kEpochs) {
      EXPECT_EQ(done, whole.size());
      EXPECT_EQ(position.consumed, 0);
      break;
    }
    BatchesOptions rest = options;
    rest.start = position;
    rest.epochs = kEpochs - position.epoch;
    const RunSamples expected(whole.begin() + static_cast<std::ptrdiff_t>(done), whole.end());
    EXPECT_EQ(run_of(batches(data, 3, rest)), expected) << "after step " << done;
    for (const int towers : {1, 2, 8}) {
      EXPECT_EQ(flat(run_of(batches(data, towers, rest))), flat(expected))
          << "after step " << done << ", on " << towers << " towers";
    }
  }
}

TEST(BatchesTest, AStartAtTheEndOfAnEpochIsTheBeginningOfTheNext) {
  const NumberDataset data;
  EXPECT_EQ(run_of(batches(data, 2, {.batch_size = 7, .epochs = 2, .start = {3, kSamples}})),
            run_of(batches(data, 2, {.batch_size = 7, .epochs = 1, .start = {4, 0}})));
}

TEST(BatchesTest, WithoutTheLastStepEveryFeedIsFullAndARunGoesOnFromAnywhere) {
  constexpr std::int64_t kEpochs = 3;
  const NumberDataset data;
  const BatchesOptions options{.batch_size = 7, .drop_last = true, .epochs = kEpochs};
  const RunSamples whole = run_of(batches(data, 2, options));
  ASSERT_EQ(whole.size(), kEpochs * (kSamples / 14));
  for (const auto& step : whole) {
    ASSERT_EQ(step.size(), 2u);
    for (const auto& feed : step) EXPECT_EQ(feed.size(), 7u);
  }
  Batches stepwise = batches(data, 2, options);
  for (std::size_t done = 1; done < whole.size(); ++done) {
    const DataPosition position = stepwise.next()->after;
    EXPECT_EQ(position.epoch, static_cast<std::int64_t>(done) / (kSamples / 14));
    BatchesOptions rest = options;
    rest.start = position;
    rest.epochs = kEpochs - position.epoch;
    EXPECT_EQ(run_of(batches(data, 2, rest)),
              RunSamples(whole.begin() + static_cast<std::ptrdiff_t>(done), whole.end()));
    // Towers for which too little of the epoch is left go on with the next.
    for (const auto& step : run_of(batches(data, 9, rest))) EXPECT_EQ(step.size(), 9u);
  }
  EXPECT_THROW(batches(data, 15, options), UsageError);
}

TEST(BatchesTest, AnExceptionOfTheDataSetComesAtItsStep) {
  const RunSamples good = run_of(batches(NumberDataset(), 2, {.batch_size = 7}));
  for (std::size_t bad_step = 0; bad_step < good.size(); ++bad_step) {
    const NumberDataset data(/*bad=*/good[bad_step].back().back());
    for (const int threads : {1, 2, 5}) {
      Batches failing = batches(data, 2, {.batch_size = 7, .loader_threads = threads});
      for (std::size_t step = 0; step < bad_step; ++step) {
        EXPECT_EQ(values_of(failing.next()->front()), good[step].front());
      }
      EXPECT_THROW(failing.next(), std::runtime_error) << "step " << bad_step;
      EXPECT_THROW(failing.next(), std::runtime_error) << "step " << bad_step << ", asked again";
    }
  }
}

TEST(BatchesTest, CanBeLeftInTheMiddleOfAnEpoch) {
  const NumberDataset data;
  for (const int threads : {1, 2, 5}) {
    for (int steps = 0; steps < 4; ++steps) {
      Batches endless =
          batches(data, 2, {.batch_size = 7, .epochs = kEndlessEpochs, .loader_threads = threads});
      for (int i = 0; i < steps; ++i) ASSERT_NE(endless.next(), nullptr);
    }
  }
}

TEST(BatchesTest, NumbersTheSamplesOfEachFeed) {
  const NumberDataset data;  // does not say which samples its batches hold
  for (const auto& feeds : batches(data, 3, {.batch_size = 7})) {
    for (const Batch& feed : feeds) EXPECT_EQ(feed.sample_numbers(), values_of(feed));
  }
}

TEST(BatchesTest, CanBeMoved) {
  const NumberDataset data;
  Batches first = batches(data, 1, {.batch_size = 50, .shuffle = false});
  first.next();
  Batches second = std::move(first);
  EXPECT_EQ(values_of(second.next()->front()).front(), 50);
  second = batches(data, 1, {.batch_size = 50, .shuffle = false});
  EXPECT_EQ(values_of(second.next()->front()).front(), 0);
  EXPECT_GE(second.waited_seconds(), 0);
}

TEST(BatchesTest, RefusesOptionsThatCannotBe) {
  const NumberDataset data;
  const BatchesOptions bad[] = {
      {.batch_size = 0},      {.batch_size = -1},
      {.feeds_per_tower = 0}, {.epochs = 0},
      {.epochs = -1},         {.start = {-1, 0}},
      {.start = {0, -1}},     {.start = {0, kSamples + 1}},
      {.loader_threads = 0},  {.prefetch_steps = 0},
  };
  for (const auto& options : bad) EXPECT_THROW(batches(data, 1, options), UsageError);
  for (const int towers : {0, -1}) EXPECT_THROW(batches(data, towers, {}), UsageError);
  const TensorDataset empty(torch::zeros({0, 3}), torch::zeros({0}));
  EXPECT_THROW(batches(empty, 1, {}), UsageError);
}

}  // namespace batches_test
}  // namespace pagoda
