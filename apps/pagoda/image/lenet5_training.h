#pragma once

#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <string>

#include "image/lenet5_task.h"
#include "run/training_run.h"

namespace pagoda::app {

struct LeNet5Flags {
  std::string data = "builtin";
  double dropout = LeNet5Options{}.dropout;
};
void add_lenet5_flags(CLI::App& command, LeNet5Flags& flags);

/// A whole run of LeNet-5; see `train`.
TrainingSummary train_lenet5(const TrainFlags& flags, const LeNet5Flags& lenet5,
                             const std::string& config);

/// Loss and accuracy on the test images with the averaged parameters, where there are any.
Evaluation test_lenet5(Towers<LeNet5>& towers, ModelStep<LeNet5>& step, const Dataset& test);

}  // namespace pagoda::app
