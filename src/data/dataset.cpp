#include <pagoda/base/error.h>
#include <pagoda/data/dataset.h>

#include <string>

#include <ATen/ops/from_blob.h>

namespace pagoda {

TensorDataset::TensorDataset(at::Tensor input, at::Tensor target)
    : input_(std::move(input)), target_(std::move(target)) {
  if (input_.dim() == 0 || target_.dim() == 0 || input_.size(0) != target_.size(0)) {
    throw UsageError("a data set needs one target for each input; there are " +
                     std::to_string(target_.dim() == 0 ? 0 : target_.size(0)) + " targets for " +
                     std::to_string(input_.dim() == 0 ? 0 : input_.size(0)) + " inputs");
  }
}

Batch TensorDataset::get(std::span<const std::int64_t> samples, std::int64_t) const {
  const at::Tensor rows = at::from_blob(const_cast<std::int64_t*>(samples.data()),  // only read
                                        {static_cast<std::int64_t>(samples.size())}, at::kLong);
  return {.input = input_.index_select(0, rows),
          .target = target_.index_select(0, rows),
          .samples = {samples.begin(), samples.end()}};
}

}  // namespace pagoda
