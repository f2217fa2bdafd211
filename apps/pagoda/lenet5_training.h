#pragma once

#include <pagoda/data/batches.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <cstdint>
#include <optional>

#include "console.h"
#include "lenet5_task.h"

namespace pagoda::app {

struct TrainingPlan {
  std::int64_t steps = 0;       ///< where to stop
  std::int64_t log_every = 20;  ///< steps between two log lines
};

struct TrainingSummary {
  std::int64_t steps = 0;
  std::int64_t skipped = 0;  ///< steps whose loss was not finite
  double samples = 0;
  double seconds = 0;
  double loss = 0;    ///< of the last step
  double waited = 0;  ///< seconds without data
  double samples_per_second() const { return seconds > 0 ? samples / seconds : 0; }
};

/// Runs the step over the batches, with a log line and a progress bar for a person.
TrainingSummary train_lenet5(SyncStep<LeNet5>& step, Batches& data, const TrainingPlan& plan,
                             Console& console);

/// Loss and accuracy on the test images with the averaged parameters, where there are any.
Evaluation test_lenet5(Towers<LeNet5>& towers, SyncStep<LeNet5>& step, const Dataset& test);

}  // namespace pagoda::app
