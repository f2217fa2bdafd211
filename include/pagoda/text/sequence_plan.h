#pragma once

#include <pagoda/data/feed_plan.h>
#include <pagoda/text/pair_store.h>
#include <pagoda/text/sequence_epoch.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace pagoda {

/// A bucket for pairs up to these lengths.
struct LengthBucket {
  std::int64_t source;  ///< greatest length of a source, in tokens
  std::int64_t target;  ///< greatest length of a target, in tokens
};

/// Parses buckets such as "5:10,10:15,20:25,40:50". Fails: UsageError that quotes the invalid one.
std::vector<LengthBucket> parse_buckets(std::string_view text);

/// How pairs are put into batches.
struct SequencePlanOptions {
  std::int64_t batch_size = 64;  ///< pairs in one feed
  /// Used instead of `batch_size`: a feed takes as many pairs as fit into this many tokens, source
  /// and target together and padding included. A longer pair is a feed of its own.
  std::optional<std::int64_t> batch_tokens = std::nullopt;
  int feeds_per_tower = 1;  ///< more than 1: gradients accumulate over this many feeds
  /// Use only the first pairs of the data, as many as this many steps take; 0: all.
  std::int64_t first_steps = 0;
  bool shuffle = true;     ///< a new order in each epoch
  std::uint64_t seed = 0;  ///< seed of the order
  /// Each batch holds pairs from one bucket; a pair belongs to the first bucket that it fits into,
  /// and is left out if it fits into none. Without buckets, batches hold pairs of similar length.
  std::vector<LengthBucket> buckets = {};
};

/// Decides which pairs each feed of each step holds, so that little padding is needed.
///
/// Without buckets, the shuffled epoch is cut into windows of about 128 batches, each window is
/// sorted by length and cut into batches, and runs of 8 batches are put into random order. So the
/// batches of one step are similar in length, too, for up to 8 towers, and towers wait little for
/// each other.
///
/// An epoch is a function of the pairs, the options and its number. It does not depend on the
/// number of towers (unless `first_steps` is set), so a run can resume with another number.
///
/// Threads: any number may call it at once.
/// Fails: UsageError for numbers that are not positive, and when there is no pair, or none that
/// fits into a bucket.
class SequencePlan {
 public:
  using Batch = SequenceEpoch::Batch;  ///< the numbers of a batch's pairs

  SequencePlan(const PairStore& pairs, int towers, const SequencePlanOptions& options);

  /// The batches of an epoch. They are computed anew (sorting a million pairs takes a second)
  /// unless this is the epoch computed last and somebody still holds it.
  std::shared_ptr<const SequenceEpoch> epoch(std::int64_t number) const;

  /// How many times an epoch was computed.
  std::int64_t epochs_computed() const;

  /// How many steps this many batches make.
  std::int64_t steps_of(std::size_t batches) const {
    return (static_cast<std::int64_t>(batches) + batches_per_step_ - 1) / batches_per_step_;
  }

  /// The options it was made with.
  const SequencePlanOptions& options() const { return options_; }
  /// Batches in a full step, of all towers together.
  std::int64_t batches_per_step() const { return batches_per_step_; }
  /// How many pairs an epoch has, without those left out.
  std::int64_t pairs() const { return static_cast<std::int64_t>(lengths_.size()); }
  std::int64_t left_out() const { return left_out_; }  ///< pairs that fit into no bucket

 private:
  struct Length {
    std::int64_t pair;
    std::int32_t source;
    std::int32_t target;  // with the end token
    std::int32_t bucket;
  };

  class Cutter;
  std::vector<Batch> batches(std::int64_t epoch) const;
  std::vector<Length> shuffled(std::int64_t epoch) const;
  void mix(std::vector<Batch>& batches, std::int64_t epoch) const;

  // Constant after construction.
  SequencePlanOptions options_;
  std::int64_t batches_per_step_;
  std::vector<Length> lengths_;
  std::int64_t left_out_ = 0;

  mutable std::mutex mutex_;
  mutable std::weak_ptr<const SequenceEpoch> last_;  // guarded by mutex_, as is epochs_computed_
  mutable std::int64_t epochs_computed_ = 0;
};

}  // namespace pagoda
