#pragma once

#include <pagoda/data/feed_stream.h>
#include <pagoda/data/tower_share.h>
#include <pagoda/text/pair_store.h>
#include <pagoda/text/sequence_plan.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Sentence pairs for one tower and one step: a feed for SyncStep, in place of Batch.
struct SequenceBatch {
  at::Tensor source = {};          ///< [pairs, longest] int64, filled up with kPad
  at::Tensor source_lengths = {};  ///< [pairs] int64
  at::Tensor target = {};          ///< [pairs, longest + 2]: kBegin, the tokens, kEnd, filled up
  double tokens = 0;               ///< target tokens that count: all but kBegin and kPad
  std::uint64_t step_seed = 0;     ///< the same for all feeds of a step; for draw_candidates
  std::vector<std::int64_t> samples = {};  ///< numbers of the pairs, for messages

  /// Feeds count by their tokens, so that N towers equal one with the mean over all tokens.
  double weight() const { return tokens; }
  /// For messages: see `samples`.
  const std::vector<std::int64_t>& sample_numbers() const { return samples; }

  /// The same batch with every tensor replaced by `change(tensor)`.
  template <class Change>
  SequenceBatch with_tensors(Change change) const {
    SequenceBatch changed = *this;
    changed.source = change(source);
    changed.source_lengths = change(source_lengths);
    changed.target = change(target);
    return changed;
  }
};

/// These pairs as one batch, in this order.
SequenceBatch sequence_batch(const PairStore& pairs, const std::vector<std::int64_t>& numbers);

/// Sources alone, for decoding; a batch without targets.
SequenceBatch source_batch(const std::vector<std::vector<TokenId>>& sources);

/// What becomes of a sequence of tokens for one epoch; the same tokens and seed give the same. See
/// SubwordSampler.
using TokenChange =
    std::function<std::vector<TokenId>(std::span<const TokenId> tokens, std::uint64_t seed)>;

/// How pairs become the feeds of steps.
struct SequenceBatchesOptions {
  SequencePlanOptions plan = {};  ///< which pairs go together
  std::int64_t epochs = 1;        ///< passes over the data, the one that `start` is in included
  DataPosition start = {};        ///< where to begin; `consumed` counts pairs
  int loader_threads = 1;         ///< threads that make batches ahead of their use
  int prefetch_steps = 4;         ///< steps that may lie ready
  /// Changes every source when its batch is made; seeds are functions of the plan's seed, epoch and pair.
  /// Batches are planned by the lengths before, so those after it may exceed `batch_tokens`.
  TokenChange change_source = {};
  TokenChange change_target = {};  ///< the same for targets
};

/// The steps' feeds of sentence pairs, in the order of a SequencePlan.
///
/// Threads, functions: those of FeedStream. Borrows: the pairs, which must outlive it.
/// Fails: UsageError for bad options, or a `start` that lies within a batch.
/// Example:
///     SequenceBatches data(pairs, towers.size(), {.plan = {.batch_size = 64}, .epochs = 10});
///     for (auto& feeds : data)
///       step.run(feeds, [](Seq2Seq& model, const SequenceBatch& batch) {
///         return model->loss(batch.source, batch.source_lengths, batch.target).loss;
///       });
class SequenceBatches : public FeedStream<SequenceBatch> {
 public:
  /// A number of towers stands for those of a process that is alone.
  SequenceBatches(const PairStore& pairs, TowerShare towers,
                  const SequenceBatchesOptions& options = {});

  /// With a plan of these pairs for all towers that is there already; `options.plan` does not count.
  SequenceBatches(const PairStore& pairs, TowerShare towers,
                  std::shared_ptr<const SequencePlan> plan,
                  const SequenceBatchesOptions& options = {});

  /// How an epoch is cut into batches.
  const SequencePlan& plan() const;

 private:
  struct Loader;
  explicit SequenceBatches(std::shared_ptr<Loader> loader);

  std::shared_ptr<Loader> loader_;  // shared with what makes the feeds
};

}  // namespace pagoda
