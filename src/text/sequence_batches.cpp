#include <pagoda/base/error.h>
#include <pagoda/text/sequence_batches.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include "base/random_streams.h"

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

template <class Sequences>
void put_targets(const Sequences& sequences, SequenceBatch& batch) {
  batch.target = filled_up(sequences, 2);
  auto* row = batch.target.template mutable_data_ptr<std::int64_t>();
  for (const auto& one : sequences) {
    row[0] = kBegin;
    std::copy(one.begin(), one.end(), row + 1);
    row[one.size() + 1] = kEnd;
    row += batch.target.size(1);
    batch.tokens += static_cast<double>(one.size()) + 1;
  }
}

template <class Sequences>
SequenceBatch batch_of(const Sequences& sources, const Sequences& targets,
                       const std::vector<std::int64_t>& numbers) {
  SequenceBatch batch{.samples = numbers};
  put_sources(sources, batch);
  put_targets(targets, batch);
  return batch;
}

std::vector<TokenId> changed(const TokenChange& change, std::span<const TokenId> tokens,
                             std::uint64_t seed) {
  return change ? change(tokens, seed) : std::vector<TokenId>(tokens.begin(), tokens.end());
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
  for (const std::int64_t number : numbers) {
    sources.push_back(pairs.sources[number]);
    targets.push_back(pairs.targets[number]);
  }
  return batch_of(sources, targets, numbers);
}

SequenceBatch source_batch(const std::vector<std::vector<TokenId>>& sources) {
  SequenceBatch batch;
  put_sources(sources, batch);
  return batch;
}

struct SequenceBatches::Loader {
  /// An epoch's part that is run, and which step of the loader is its first.
  struct Part {
    std::shared_ptr<const SequenceEpoch> epoch;
    std::int64_t first_step;
    std::size_t first_batch;  // 0, or where the run begins
  };

  Loader(const PairStore& store, const TowerShare& towers,
         std::shared_ptr<const SequencePlan> order, const SequenceBatchesOptions& loader_options)
      : pairs(store), share(towers), options(loader_options), plan(std::move(order)) {
    auto epoch = plan->epoch(options.start.epoch);
    std::size_t first = epoch->batch_after(options.start.consumed);
    if (first == epoch->size()) {  // the end of an epoch is the beginning of the next
      epoch = plan->epoch(options.start.epoch + 1);
      first = 0;
    }
    parts.emplace(0, Part{std::move(epoch), 0, first});
  }

  std::int64_t steps_of(const Part& part) const {
    return plan->steps_of(part.epoch->size() - part.first_batch);
  }

  /// The part that holds step `number`; nothing after the last.
  std::optional<Part> part_of(std::int64_t number) {
    std::lock_guard lock(mutex);
    while (true) {
      const Part& part = std::prev(parts.upper_bound(number))->second;
      if (part.epoch->number() - options.start.epoch >= options.epochs) return std::nullopt;
      const std::int64_t end = part.first_step + steps_of(part);
      if (number < end) return part;
      const std::int64_t next = part.epoch->number() + 1;
      if (next - options.start.epoch >= options.epochs) return std::nullopt;
      parts.emplace(end, Part{plan->epoch(next), end, 0});
      // Threads work on steps less than `prefetch_steps` apart.
      while (parts.size() > 1 &&
             std::next(parts.begin())->first <= number - options.prefetch_steps) {
        parts.erase(parts.begin());
      }
    }
  }

  SequenceBatch batch(std::int64_t epoch, const std::vector<std::int64_t>& numbers) const {
    if (!options.change_source && !options.change_target) return sequence_batch(pairs, numbers);
    const RandomStreams streams(plan->options().seed);
    std::vector<std::vector<TokenId>> sources;
    std::vector<std::vector<TokenId>> targets;
    for (const std::int64_t number : numbers) {
      SplitMix64 seeds(streams.sample(epoch, number));
      sources.push_back(changed(options.change_source, pairs.sources[number], seeds()));
      targets.push_back(changed(options.change_target, pairs.targets[number], seeds()));
    }
    return batch_of(sources, targets, numbers);
  }

  std::optional<StepFeeds<SequenceBatch>> make(std::int64_t number) {
    const auto part = part_of(number);
    if (!part) return std::nullopt;
    const SequenceEpoch& epoch = *part->epoch;
    const auto step = static_cast<std::size_t>(number - part->first_step);
    const auto per_step = static_cast<std::size_t>(plan->batches_per_step());
    const std::size_t begin = part->first_batch + step * per_step;
    const std::size_t end = std::min(begin + per_step, epoch.size());
    const std::uint64_t seed =
        RandomStreams(plan->options().seed).step_draws(epoch.number(), epoch.pairs_before(begin));
    StepFeeds<SequenceBatch> feeds;
    for (std::size_t i = begin; i < end; ++i) {
      if (!share.has_feed(i - begin)) continue;
      feeds.push_back(batch(epoch.number(), epoch[i]));
      feeds.back().step_seed = seed;
    }
    feeds.after = end == epoch.size() ? DataPosition{epoch.number() + 1, 0}
                                      : DataPosition{epoch.number(), epoch.pairs_before(end)};
    return feeds;
  }

  // Constant after construction.
  const PairStore& pairs;
  const TowerShare share;
  const SequenceBatchesOptions options;
  const std::shared_ptr<const SequencePlan> plan;

  std::mutex mutex;
  std::map<std::int64_t, Part> parts;  // by first step; guarded by mutex
};

SequenceBatches::SequenceBatches(const PairStore& pairs, TowerShare towers,
                                 const SequenceBatchesOptions& options)
    : SequenceBatches(
          pairs, towers,
          (check(options), std::make_shared<const SequencePlan>(pairs, towers.total, options.plan)),
          options) {}

SequenceBatches::SequenceBatches(const PairStore& pairs, TowerShare towers,
                                 std::shared_ptr<const SequencePlan> plan,
                                 const SequenceBatchesOptions& options)
    : SequenceBatches(
          (check(options), std::make_shared<Loader>(pairs, towers, std::move(plan), options))) {}

SequenceBatches::SequenceBatches(std::shared_ptr<Loader> loader)
    : FeedStream([loader](std::int64_t number) { return loader->make(number); },
                 loader->options.loader_threads, loader->options.prefetch_steps),
      loader_(std::move(loader)) {}

const SequencePlan& SequenceBatches::plan() const { return *loader_->plan; }

}  // namespace pagoda
