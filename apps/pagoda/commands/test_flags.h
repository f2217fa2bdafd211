#pragma once

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "model/known_model.h"

namespace pagoda::app {

/// The test flags of all models on one command: of which model they are is known only when the run
/// has been opened. Models may have flags of the same name.
///
/// Threads: one. The command must not outlive it.
class TestFlags {
 public:
  /// Adds the test flags of a model that can be trained.
  void add(CLI::App& command, const KnownModel& model);

  /// Gives the values to the model's own flags.
  /// Fails: UsageError for one that the model does not have, or whose value does not fit.
  void hand_to(ModelTraining& training, const StoredRun& run) const;

 private:
  std::map<std::string, std::vector<std::string>> given_;  // by the flag's name
};

}  // namespace pagoda::app
