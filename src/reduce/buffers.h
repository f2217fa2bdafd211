#pragma once

#include <pagoda/reduce/buffer_rule.h>
#include <pagoda/tower/replicas.h>

#include <memory>
#include <vector>

namespace pagoda {

/// What the towers make of one buffer in a step.
struct BufferValue {
  at::Tensor value;  ///< on the CPU; its memory is whoever's gets it
  bool is_mean;      ///< over the towers, by their weights; otherwise tower 0's
  bool changed;      ///< by any tower
};

/// Keeps the buffers of all towers equal.
///
/// Threads: remember(t), undo(t) and note_changes(t) in the thread of tower t; the rest on the
/// coordinating thread.
/// Owns: a copy of the buffers as they were after the last good step.
class BufferCombiner {
 public:
  BufferCombiner(std::shared_ptr<const Replicas> replicas, BufferRule rule);

  /// Before the towers step: another step over the same replicas may have changed the buffers.
  void begin();

  /// Finds out which buffers the tower's step has changed.
  void note_changes(int tower);

  /// What the towers make of each buffer; tower t counts `weights[t]`, which sum to 1.
  std::vector<BufferValue> values(const std::vector<double>& weights) const;

  /// Makes those that were changed equal on all towers.
  void take(const std::vector<BufferValue>& values);
  void combine(const std::vector<double>& weights) { take(values(weights)); }

  /// Takes all buffers back to the last good step, after a step that failed or was skipped.
  void restore();

  /// Takes tower 0's buffers as the good ones, for all towers, after they were loaded from outside.
  void adopt_first();

  /// For towers that do not step together: notes the tower's buffers before its pass, and takes them
  /// back to that when the pass comes to nothing.
  void remember(int tower);
  void undo(int tower);

 private:
  const std::vector<NamedTensor>& buffers(int tower) const {
    return replicas_->table(tower).buffers;
  }
  std::vector<at::Tensor> tensors(int tower) const;
  std::vector<std::size_t> all() const;
  void spread(const std::vector<std::size_t>& which);
  void note_new();

  const std::shared_ptr<const Replicas> replicas_;
  const BufferRule rule_;
  std::int64_t version_ = 0;                // of the buffers that good_ has, see ReplicaUse
  std::vector<at::Tensor> good_;            // on the CPU
  std::vector<std::vector<char>> changed_;  // by tower, then by buffer
  std::vector<std::vector<at::Tensor>> seen_;  // the same, in CPU memory; empty: not looked at
  std::vector<std::vector<at::Tensor>> remembered_;  // the same, on the tower's device
};

}  // namespace pagoda
