#pragma once

namespace pagoda {

/// What the towers' buffers become after a step. During the step each tower computes with its own;
/// afterwards all are equal again.
enum class BufferRule {
  /// Floating-point buffers that any tower has changed become the mean over the towers, weighted as
  /// the gradients are; others (counters) become tower 0's. For BatchNorm, the running mean is then
  /// that of the whole batch, and the running variance is the mean of the towers' variances.
  mean,
  first,  ///< tower 0's, as in PyTorch's DistributedDataParallel
};

}  // namespace pagoda
