#pragma once

#include <pagoda/checkpoint/run_state.h>
#include <pagoda/train/loss_scale.h>

#include <mutex>

namespace pagoda {

class World;

/// What of a step is nan or infinite; the worst is the greatest.
enum class NotFinite {
  nothing,
  gradient,  ///< a gradient or its norm, with finite losses
  loss,
};

/// Keeps the loss scale of fp16 training; see LossScale.
///
/// Threads: any; asynchronous towers use it at once. Each says with which scale its gradient was
/// computed: what is known of a scale that has changed since decides nothing.
class LossScaler {
 public:
  /// Fails: UsageError for options out of range.
  explicit LossScaler(const LossScale& options);

  /// For the next backward.
  double scale() const;

  /// An update was made with a gradient of this scale.
  void note_update(double scale);

  /// A gradient of this scale is not finite. False at the least scale: then it is no overflow.
  bool note_overflow(double scale);

  /// What must survive a restart.
  LossScaleState state() const;
  void load(const LossScaleState& state);

  /// Makes it rank 0's; all processes call it together. For those that train on their own in between.
  void take_first(World& world);

 private:
  const LossScale options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  double scale_;
  std::int64_t good_steps_ = 0;
  std::int64_t overflows_ = 0;
};

}  // namespace pagoda
