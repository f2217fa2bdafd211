#include "params/block_plan.h"

#include <algorithm>

namespace pagoda {
namespace {

/// Large enough to make the choice of a block cheap, small enough to deal out evenly.
constexpr std::int64_t kBlockElements = 16 * 1024;

}  // namespace

std::int64_t row_elements(const at::Tensor& parameter) {
  if (parameter.dim() == 0 || parameter.size(0) == 0) return 1;
  return std::max<std::int64_t>(1, parameter.numel() / parameter.size(0));
}

at::Tensor elements_of(const at::Tensor& tensor, const ElementRange& range) {
  return tensor.detach().as_strided({range.size()}, {1}, tensor.storage_offset() + range.begin);
}

BlockPlan::BlockPlan(const std::vector<NamedTensor>& parameters) : parameters_(parameters.size()) {
  std::int64_t total = 0;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const at::Tensor& parameter = parameters[index].tensor;
    const std::int64_t row = row_elements(parameter);
    const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / row) * row;
    for (std::int64_t begin = 0; begin < parameter.numel(); begin += step) {
      const std::int64_t end = std::min(begin + step, parameter.numel());
      blocks_.push_back({index, begin, end});
      elements_before_.push_back(total);
      total += end - begin;
    }
  }
  elements_before_.push_back(total);
}

BlockPlan::Range BlockPlan::share(int share, int shares) const {
  const std::int64_t total = elements_before_.back();
  const auto boundary = [&](int i) {
    const auto found =
        std::lower_bound(elements_before_.begin(), elements_before_.end(), total * i / shares);
    return static_cast<std::size_t>(found - elements_before_.begin());
  };
  return {boundary(share), boundary(share + 1)};
}

std::vector<ElementRange> BlockPlan::ranges(int share, int shares) const {
  std::vector<ElementRange> ranges(parameters_);
  const auto [begin, end] = this->share(share, shares);
  for (std::size_t i = begin; i < end; ++i) {
    const Block& block = blocks_[i];
    ElementRange& range = ranges[block.parameter];
    if (range.size() == 0) range.begin = block.begin;
    range.end = block.end;
  }
  return ranges;
}

}  // namespace pagoda
