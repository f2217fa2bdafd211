#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/model_training.h"

namespace pagoda::testing {

/// A model that has flags, and neither trains nor tests.
class FlagTraining : public app::ModelTraining {
 public:
  void add_flags(CLI::App& command) override { command.add_option("--data", data); }
  void add_test_flags(CLI::App& command) override {
    command.add_option("--data", test_data, "directory (default: the run's)");
    command.add_option("--list", list, "any number of files (default: none)");
  }
  RunSummary train(const RunOptions&) override { return {}; }
  app::TestReport test(const app::StoredRun&, const std::vector<Device>&, World*) override {
    return {};
  }

  std::string data;
  std::optional<std::string> test_data;
  std::vector<std::string> list;
};

inline app::StoredRun run_of(std::string config) {
  app::StoredRun run{.directory = "runs/a", .checkpoint = {}, .weights = {}};
  run.checkpoint.config = std::move(config);
  return run;
}

}  // namespace pagoda::testing
