#pragma once

#include <pagoda/run/run.h>

#include <optional>
#include <string>

#include "lenet5/lenet5_task.h"
#include "model/model_training.h"

namespace pagoda::app {

/// LeNet-5 on labelled images: trained by a Run, tested by class.
class LeNet5Training : public ModelTraining {
 public:
  RunOptions defaults() const override;
  std::span<const Preset> presets() const override;
  void add_flags(CLI::App& command) override;
  RunSummary train(const RunOptions& options) override;
  void add_test_flags(CLI::App& command) override;
  TestReport test(const StoredRun& run, const std::vector<Device>& devices, World* world) override;

 private:
  std::string data_ = "builtin";
  double dropout_ = LeNet5Options{}.dropout;
  std::optional<std::string> test_data_;  // unset: the run's
};

/// Loss and accuracy on the test images with the averaged parameters, where there are any.
Evaluation test_lenet5(Towers<LeNet5>& towers, ModelStep<LeNet5>& step, const Dataset& test);

}  // namespace pagoda::app
