#include <pagoda/base/error.h>
#include <pagoda/text/sequence_epoch.h>

#include <algorithm>
#include <string>

namespace pagoda {

SequenceEpoch::SequenceEpoch(std::int64_t number, std::vector<Batch> batches)
    : number_(number), batches_(std::move(batches)) {
  begins_.reserve(batches_.size() + 1);
  begins_.push_back(0);
  for (const Batch& batch : batches_) {
    begins_.push_back(begins_.back() + static_cast<std::int64_t>(batch.size()));
  }
}

std::size_t SequenceEpoch::batch_after(std::int64_t consumed) const {
  const auto found = std::lower_bound(begins_.begin(), begins_.end(), consumed);
  if (found == begins_.end() || *found != consumed) {
    throw UsageError("no batch begins after " + std::to_string(consumed) + " pairs of epoch " +
                     std::to_string(number_) +
                     ": the data, the batch size or the buckets have changed");
  }
  return static_cast<std::size_t>(found - begins_.begin());
}

}  // namespace pagoda
