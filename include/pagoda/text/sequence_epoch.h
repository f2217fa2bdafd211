#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pagoda {

/// The batches of one epoch in order, indexed by the number of pairs before each: positions in the
/// data count pairs, so a batch can be found from a position, and the reverse, without a scan.
///
/// Threads: immutable after construction.
class SequenceEpoch {
 public:
  using Batch = std::vector<std::int64_t>;  ///< numbers of pairs

  SequenceEpoch(std::int64_t number, std::vector<Batch> batches);

  /// Which epoch it is, from 0.
  std::int64_t number() const { return number_; }
  /// How many batches it has.
  std::size_t size() const { return batches_.size(); }
  const Batch& operator[](std::size_t batch) const { return batches_[batch]; }
  /// All batches, in the order in which they are used.
  const std::vector<Batch>& batches() const { return batches_; }

  /// How many pairs of the epoch come before a batch; for `size()`, all of them.
  std::int64_t pairs_before(std::size_t batch) const { return begins_[batch]; }

  /// The batch that begins after `consumed` pairs; `size()` after all of them.
  /// Fails: UsageError when no batch begins there: the data or the options have changed.
  std::size_t batch_after(std::int64_t consumed) const;

 private:
  std::int64_t number_;
  std::vector<Batch> batches_;
  std::vector<std::int64_t> begins_;  // one more than there are batches
};

}  // namespace pagoda
