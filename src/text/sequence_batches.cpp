#include <pagoda/base/error.h>
#include <pagoda/base/random_streams.h>
#include <pagoda/text/sequence_batches.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

namespace pagoda {
namespace {

/// Rows of tokens, filled up to the longest.
template <class Sequences>
at::Tensor filled_up(const Sequences& sequences, std::size_t extra) {
  std::size_t longest = 0;
  for (const auto& one : sequences) longest = std::max(longest, one.size());
  return at::full(
      {static_cast<std::int64_t>(sequences.size()), static_cast<std::int64_t>(longest + extra)},
      kPad, at::kLong);
}

template <class Sequences>
void put_sources(const Sequences& sequences, SequenceBatch& batch) {
  batch.source = filled_up(sequences, 0);
  batch.source_lengths = at::empty({static_cast<std::int64_t>(sequences.size())}, at::kLong);
  auto* tokens = batch.source.template mutable_data_ptr<std::int64_t>();
  auto* lengths = batch.source_lengths.template mutable_data_ptr<std::int64_t>();
  for (const auto& one : sequences) {
    std::copy(one.begin(), one.end(), tokens);
    tokens += batch.source.size(1);
    *lengths++ = static_cast<std::int64_t>(one.size());
  }
}

void check(const SequenceBatchesOptions& options) {
  if (options.epochs < 1 || options.loader_threads < 1 || options.prefetch_steps < 1 ||
      options.start.epoch < 0 || options.start.consumed < 0) {
    throw UsageError("epochs (" + std::to_string(options.epochs) + "), loader threads (" +
                     std::to_string(options.loader_threads) + ") and prefetched steps (" +
                     std::to_string(options.prefetch_steps) +
                     ") must be at least 1, and the start not negative");
  }
}

}  // namespace

SequenceBatch sequence_batch(const PairStore& pairs, const std::vector<std::int64_t>& numbers) {
  std::vector<std::span<const TokenId>> sources;
  std::vector<std::span<const TokenId>> targets;
  SequenceBatch batch{.samples = numbers};
  for (const std::int64_t number : numbers) {
    sources.push_back(pairs.sources[number]);
    targets.push_back(pairs.targets[number]);
    batch.tokens += static_cast<double>(targets.back().size()) + 1;
  }
  put_sources(sources, batch);
  batch.target = filled_up(targets, 2);
  auto* row = batch.target.mutable_data_ptr<std::int64_t>();
  for (const auto& one : targets) {
    row[0] = kBegin;
    std::copy(one.begin(), one.end(), row + 1);
    row[one.size() + 1] = kEnd;
    row += batch.target.size(1);
  }
  return batch;
}

SequenceBatch source_batch(const std::vector<std::vector<TokenId>>& sources) {
  SequenceBatch batch;
  put_sources(sources, batch);
  return batch;
}

struct SequenceBatches::Loader {
  using Batch = SequencePlan::Batch;

  /// The batches of an epoch, and which step of the loader is its first.
  struct Epoch {
    std::int64_t number;
    std::int64_t first_step;
    std::size_t first_batch;  // 0, or where the run begins
    std::vector<Batch> batches;
  };

  Loader(const PairStore& store, int towers, const SequenceBatchesOptions& loader_options)
      : pairs(store), options(loader_options), plan(store, towers, loader_options.plan) {
    auto begin = std::make_shared<Epoch>(
        Epoch{options.start.epoch, 0, 0, plan.batches(options.start.epoch)});
    begin->first_batch = SequencePlan::batch_at(begin->batches, options.start.consumed);
    epochs.emplace(0, std::move(begin));
  }

  std::int64_t steps_of(const Epoch& epoch) const {
    const auto left = static_cast<std::int64_t>(epoch.batches.size() - epoch.first_batch);
    return (left + plan.batches_per_step() - 1) / plan.batches_per_step();
  }

  /// The epoch that holds step `number`; nothing after the last.
  std::shared_ptr<const Epoch> epoch_of(std::int64_t number) {
    std::lock_guard lock(mutex);
    while (true) {
      const auto found = std::prev(epochs.upper_bound(number));
      const Epoch& epoch = *found->second;
      const std::int64_t end = epoch.first_step + steps_of(epoch);
      if (number < end) return found->second;
      const std::int64_t next = epoch.number + 1;
      if (next - options.start.epoch >= options.epochs) return nullptr;
      epochs.emplace(end, std::make_shared<Epoch>(Epoch{next, end, 0, plan.batches(next)}));
      // Threads work on steps less than `prefetch_steps` apart.
      while (epochs.size() > 1 &&
             std::next(epochs.begin())->first <= number - options.prefetch_steps) {
        epochs.erase(epochs.begin());
      }
    }
  }

  std::optional<StepFeeds<SequenceBatch>> make(std::int64_t number) {
    const auto epoch = epoch_of(number);
    if (!epoch) return std::nullopt;
    const auto step = static_cast<std::size_t>(number - epoch->first_step);
    const auto per_step = static_cast<std::size_t>(plan.batches_per_step());
    const std::size_t begin = epoch->first_batch + step * per_step;
    const std::size_t end = std::min(begin + per_step, epoch->batches.size());
    std::int64_t consumed = 0;
    for (std::size_t i = 0; i < begin; ++i) {
      consumed += static_cast<std::int64_t>(epoch->batches[i].size());
    }
    const std::uint64_t seed = RandomStreams(options.plan.seed).step_draws(epoch->number, consumed);
    StepFeeds<SequenceBatch> feeds;
    for (std::size_t i = begin; i < end; ++i) {
      feeds.push_back(sequence_batch(pairs, epoch->batches[i]));
      feeds.back().step_seed = seed;
      consumed += static_cast<std::int64_t>(epoch->batches[i].size());
    }
    feeds.after = end == epoch->batches.size() ? DataPosition{epoch->number + 1, 0}
                                               : DataPosition{epoch->number, consumed};
    return feeds;
  }

  // Constant after construction.
  const PairStore& pairs;
  const SequenceBatchesOptions options;
  const SequencePlan plan;

  std::mutex mutex;
  std::map<std::int64_t, std::shared_ptr<const Epoch>> epochs;  // by first step; guarded by mutex
};

SequenceBatches::SequenceBatches(const PairStore& pairs, int towers,
                                 const SequenceBatchesOptions& options)
    : SequenceBatches((check(options), std::make_shared<Loader>(pairs, towers, options))) {}

SequenceBatches::SequenceBatches(std::shared_ptr<Loader> loader)
    : FeedStream([loader](std::int64_t number) { return loader->make(number); },
                 loader->options.loader_threads, loader->options.prefetch_steps),
      loader_(std::move(loader)) {}

const SequencePlan& SequenceBatches::plan() const { return loader_->plan; }

}  // namespace pagoda
