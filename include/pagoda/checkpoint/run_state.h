#pragma once

#include <pagoda/base/data_position.h>

#include <cstdint>
#include <optional>

namespace pagoda {

/// Where the loss scale of fp16 training stands: see LossScale.
struct LossScaleState {
  std::optional<double> scale = std::nullopt;  ///< unset: nothing is scaled
  std::int64_t good_steps = 0;                 ///< since it changed
  std::int64_t overflows = 0;                  ///< updates that were left out, in all

  bool operator==(const LossScaleState&) const = default;
};

/// What must survive a restart besides the tensors: plain data in one place. A new field gets a line
/// in src/checkpoint/checkpoint_fields.h, which writes and reads it.
struct RunState {
  std::int64_t step = 0;                      ///< steps done
  DataPosition position = {};                 ///< where the run stands in its data
  double samples = 0;                         ///< samples done in all
  std::optional<double> best = std::nullopt;  ///< best value of the watched metric
  std::int64_t best_step = 0;                 ///< step it belongs to
  std::int64_t stale_validations = 0;         ///< validations since then
  /// Of all regular validations, for a learning rate that falls when the loss stalls: see
  /// lower_stalled_rate.
  std::optional<double> lowest_loss = std::nullopt;
  std::int64_t stalled_validations = 0;  ///< since then, or since the rate was lowered
  double rate_factor = 1;                ///< of the schedule's learning rate
  LossScaleState loss_scale = {};        ///< the step's own

  bool operator==(const RunState&) const = default;
};

}  // namespace pagoda
