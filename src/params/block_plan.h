#pragma once

#include <pagoda/params/parameter_table.h>

#include <cstdint>
#include <vector>

namespace pagoda {

/// A run of elements of one parameter, in memory order.
struct Block {
  std::size_t parameter;
  std::int64_t begin;
  std::int64_t end;
};

/// The elements [begin, end) of one parameter, in memory order.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
};

/// Those elements of a tensor without gaps, as a vector over the same memory.
at::Tensor elements_of(const at::Tensor& tensor, const ElementRange& range);

/// The parameters' elements cut into blocks of about equal size, and the blocks dealt out to
/// workers.
///
/// A block never cuts a row (what one index of the first dimension selects), so that row-sparse
/// gradients can be swept block by block. The blocks depend on the shapes only: a sum taken block
/// by block has the same bits whoever computes which block.
///
/// Threads: immutable after construction.
class BlockPlan {
 public:
  explicit BlockPlan(const std::vector<NamedTensor>& parameters);

  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  /// The blocks of worker `share` of `shares`: neighbours in memory, about equally many elements
  /// each.
  Range share(int share, int shares) const;

  /// The same for each parameter: the elements that the worker's blocks cover, which lie together.
  std::vector<ElementRange> ranges(int share, int shares) const;

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::size_t parameters_;
  std::vector<Block> blocks_;
  std::vector<std::int64_t> elements_before_;  // of each block, and of the end
};

/// Elements that one index of the first dimension selects; 1 for scalars and vectors of one
/// dimension.
std::int64_t row_elements(const at::Tensor& parameter);

}  // namespace pagoda
