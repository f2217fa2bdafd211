#pragma once

#include <pagoda/tower/tower_group.h>

#include <vector>

namespace pagoda {

/// What the towers' buffers become after a step. Each tower computes with its own during the step;
/// afterwards all are equal again.
enum class BufferRule {
  /// Floating-point buffers that any tower changed become the mean over the towers, weighted as the
  /// gradients are; others (counters) become tower 0's. For BatchNorm the running mean is then that
  /// of
  /// the whole batch, and the running variance the mean of the towers' variances.
  mean,
  first,  ///< tower 0's, as in PyTorch's DistributedDataParallel
};

/// Keeps the buffers of all towers equal.
///
/// Threads: note_changes(t) in the thread of tower t; the rest on the coordinating thread.
/// Owns: a copy of the buffers as they were after the last good step.
class BufferCombiner {
 public:
  BufferCombiner(const TowerGroup& towers, BufferRule rule);

  /// Finds out which buffers the tower's step has changed.
  void note_changes(int tower);

  /// Makes the changed buffers equal; tower t counts `weights[t]`, which sum to 1.
  void combine(const std::vector<double>& weights);

  /// Takes all buffers back to the last good step, after a step that failed or was skipped.
  void restore();

  /// The same for one tower, in its thread.
  void restore(int tower);

  /// Takes tower 0's buffers as the good ones, for all towers, after they were loaded from outside.
  void adopt_first();

 private:
  void spread(std::size_t buffer, const at::Tensor& value);

  const TowerGroup& towers_;
  const BufferRule rule_;
  std::vector<at::Tensor> good_;            // on the CPU
  std::vector<std::vector<char>> changed_;  // by tower, then by buffer
};

}  // namespace pagoda
