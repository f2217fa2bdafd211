#pragma once

#include <pagoda/base/data_position.h>

#include <cstdint>
#include <optional>

namespace pagoda {

/// State of the loss scale in fp16 training: see LossScale.
struct LossScaleState {
  std::optional<double> scale = std::nullopt;  ///< unset: nothing is scaled
  std::int64_t good_steps = 0;                 ///< updates since the scale changed
  std::int64_t overflows = 0;                  ///< updates skipped so far

  bool operator==(const LossScaleState&) const = default;
};

/// What must survive a restart besides the tensors: plain data in one place. A new field needs a
/// line in src/checkpoint/checkpoint_fields.h, which writes and reads it.
struct RunState {
  std::int64_t step = 0;                      ///< steps done
  DataPosition position = {};                 ///< where the run stands in its data
  double samples = 0;                         ///< samples done so far
  std::optional<double> best = std::nullopt;  ///< best value of the watched metric
  std::int64_t best_step = 0;                 ///< step that `best` belongs to
  std::int64_t stale_validations = 0;         ///< validations since then
  /// Lowest loss of all regular validations, for a learning rate that falls when the loss stalls:
  /// see lower_stalled_rate.
  std::optional<double> lowest_loss = std::nullopt;
  std::int64_t stalled_validations = 0;  ///< validations since then, or since the rate was lowered
  double rate_factor = 1;                ///< what the schedule's learning rate is multiplied by
  LossScaleState loss_scale = {};        ///< that of the step

  bool operator==(const RunState&) const = default;
};

}  // namespace pagoda
