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

/// Pairs up to these lengths, both in tokens.
struct LengthBucket {
  std::int64_t source;  ///< most tokens of a source
  std::int64_t target;  ///< most tokens of a target
};

/// Reads "5:10,10:15,20:25,40:50". Fails: UsageError that names what is not a bucket.
std::vector<LengthBucket> parse_buckets(std::string_view text);

/// How pairs are put into batches.
struct SequencePlanOptions {
  std::int64_t batch_size = 64;  ///< pairs for one tower and one feed
  /// In place of `batch_size`: a feed takes as many pairs as have at most so many tokens of source
  /// and target together, what fills them up included.
  std::optional<std::int64_t> batch_tokens = std::nullopt;
  int feeds_per_tower = 1;  ///< more than 1 accumulates gradients over so many feeds
  /// Only as many of the first pairs as so many steps take; 0: all.
  std::int64_t first_steps = 0;
  bool shuffle = true;     ///< a new order in each epoch
  std::uint64_t seed = 0;  ///< of the order
  /// Batches come from one bucket each; pairs that fit into none are left out. Without buckets,
  /// batches have pairs of similar length.
  std::vector<LengthBucket> buckets = {};
};

/// Which pairs each feed of each step holds, chosen so that few tokens are needed to fill up.
///
/// Without buckets, the shuffled epoch is cut into windows of 128 batches, each window is sorted by
/// length and cut into batches, and runs of 8 batches are put into random order: so the batches of
/// one step are alike in length too, for up to 8 towers, and towers wait little for each other.
///
/// An epoch is a function of seed, epoch and options. It does not depend on the number of towers,
/// so a run can resume from a position with another number.
///
/// Threads: any number may call it. Fails: UsageError for numbers that are not positive.
class SequencePlan {
 public:
  using Batch = SequenceEpoch::Batch;  ///< the numbers of the pairs that go together

  SequencePlan(const PairStore& pairs, int towers, const SequencePlanOptions& options);

  /// An epoch, computed unless somebody still holds it: to sort a million pairs takes a second.
  std::shared_ptr<const SequenceEpoch> epoch(std::int64_t number) const;

  /// How many epochs were computed.
  std::int64_t epochs_computed() const;

  /// Steps that so many batches make.
  std::int64_t steps_of(std::size_t batches) const {
    return (static_cast<std::int64_t>(batches) + batches_per_step_ - 1) / batches_per_step_;
  }

  /// As they were given.
  const SequencePlanOptions& options() const { return options_; }
  /// Of all towers together.
  std::int64_t batches_per_step() const { return batches_per_step_; }
  /// How many pairs there are.
  std::int64_t pairs() const { return static_cast<std::int64_t>(lengths_.size()); }
  std::int64_t left_out() const { return left_out_; }  ///< pairs that fit into no bucket

 private:
  struct Length {
    std::int64_t pair;
    std::int32_t source;
    std::int32_t target;  // with its end
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
  mutable std::weak_ptr<const SequenceEpoch> last_;  // guarded by mutex_, as is the next
  mutable std::int64_t epochs_computed_ = 0;
};

}  // namespace pagoda
