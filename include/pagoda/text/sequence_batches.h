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
  at::Tensor source = {};          ///< [pairs, longest] int64, padded with kPad
  at::Tensor source_lengths = {};  ///< [pairs] int64
  at::Tensor target = {};          ///< [pairs, longest + 2]: kBegin, the tokens, kEnd, padding
  double tokens = 0;               ///< target tokens that count: all but kBegin and kPad
  std::uint64_t step_seed = 0;     ///< the same for all feeds of a step; for draw_candidates
  std::vector<std::int64_t> samples = {};  ///< numbers of the pairs, for messages

  /// Feeds are weighted by their tokens, so that N towers equal one that takes the mean over all
  /// tokens.
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

/// The pairs with these numbers as one batch, in this order.
SequenceBatch sequence_batch(const PairStore& pairs, const std::vector<std::int64_t>& numbers);

/// A batch of sources without targets, for decoding.
SequenceBatch source_batch(const std::vector<std::vector<TokenId>>& sources);

/// Returns the tokens to use in one epoch instead of `tokens`, as a pure function of tokens and
/// seed. See SubwordSampler.
using TokenChange =
    std::function<std::vector<TokenId>(std::span<const TokenId> tokens, std::uint64_t seed)>;

/// How pairs become the feeds of training steps.
struct SequenceBatchesOptions {
  SequencePlanOptions plan = {};  ///< which pairs go together
  std::int64_t epochs = 1;        ///< passes over the data, including the one that contains `start`
  DataPosition start = {};        ///< where to begin; `consumed` counts pairs
  int loader_threads = 1;         ///< threads that prepare batches
  int prefetch_steps = 4;         ///< steps that are prepared ahead
  /// Changes every source when its batch is made, with a seed that depends on the plan's seed, the
  /// epoch and the pair only. Batches are planned with the original lengths, so the changed ones
  /// may exceed `batch_tokens`.
  TokenChange change_source = {};
  TokenChange change_target = {};  ///< the same for targets
};

/// The feeds of sentence pairs for each step, in the order of a SequencePlan.
///
/// Threads, functions: those of FeedStream. Borrows: the pairs, which must outlive it.
/// Fails: UsageError for invalid options, or a `start` at which no batch begins.
/// Example:
///     SequenceBatches data(pairs, towers.size(), {.plan = {.batch_size = 64}, .epochs = 10});
///     for (auto& feeds : data)
///       step.run(feeds, [](Seq2Seq& model, const SequenceBatch& batch) {
///         return model->loss(batch.source, batch.source_lengths, batch.target).loss;
///       });
class SequenceBatches : public FeedStream<SequenceBatch> {
 public:
  /// A plain number of towers means that they are all in this process.
  SequenceBatches(const PairStore& pairs, TowerShare towers,
                  const SequenceBatchesOptions& options = {});

  /// Uses an existing plan, made from these pairs for all towers; `options.plan` is ignored.
  SequenceBatches(const PairStore& pairs, TowerShare towers,
                  std::shared_ptr<const SequencePlan> plan,
                  const SequenceBatchesOptions& options = {});

  /// How an epoch is cut into batches.
  const SequencePlan& plan() const;

 private:
  struct Loader;
  explicit SequenceBatches(std::shared_ptr<Loader> loader);

  std::shared_ptr<Loader> loader_;  // shared with the function that makes the feeds
};

}  // namespace pagoda
