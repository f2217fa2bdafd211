#pragma once

#include <pagoda/run/run.h>

#include <string>

#include <CLI/CLI.hpp>

#include "image/lenet5_task.h"

namespace pagoda::app {

struct LeNet5Flags {
  std::string data = "builtin";
  double dropout = LeNet5Options{}.dropout;
};
void add_lenet5_flags(CLI::App& command, LeNet5Flags& flags);

/// A whole run of LeNet-5; see Run.
RunSummary train_lenet5(const RunOptions& options, const LeNet5Flags& flags);

/// Loss and accuracy on the test images with the averaged parameters, where there are any.
Evaluation test_lenet5(Towers<LeNet5>& towers, ModelStep<LeNet5>& step, const Dataset& test);

}  // namespace pagoda::app
