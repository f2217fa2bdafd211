#pragma once

#include <pagoda/base/json.h>
#include <pagoda/cli/preset.h>
#include <pagoda/device/device_list.h>
#include <pagoda/run/run_options.h>
#include <pagoda/run/run_summary.h>
#include <pagoda/world/world.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "run/stored_run.h"

namespace pagoda::app {

/// What a test of a run's weights found.
struct TestReport {
  /// For people: the numbers in its first line, what else there is to see below.
  std::string text;
  /// The same for programs: adds members to a JSON object.
  std::function<void(JsonWriter& json)> members;
};

/// How a model is trained, and tested afterwards. Holds the values of the model's own flags; an
/// object serves one command.
///
/// Threads: one at a time. The commands to which flags are added must not outlive it.
class ModelTraining {
 public:
  virtual ~ModelTraining() = default;

  /// The options of a run where they are not those of RunOptions.
  virtual RunOptions defaults() const { return {}; }
  virtual std::span<const Preset> presets() const { return {}; }

  /// The flags of `pagoda train` that are the model's own. They are kept with the run.
  virtual void add_flags(CLI::App& command) = 0;

  /// A whole run; see Run.
  virtual RunSummary train(const RunOptions& options) = 0;

  /// The flags of `pagoda eval` that say what else to test on than the run's own data; each takes a
  /// value. They do not share their variables with those of `add_flags`.
  virtual void add_test_flags(CLI::App& /*command*/) {}

  /// Tests the weights of a run on these devices, with the flags of both kinds set: the model's as
  /// the run was trained with them. With a world all processes call it together and divide the data;
  /// each gets the result of all. Null: the process is alone.
  /// Fails: DataError when the weights do not fit; IoError or DataError when data cannot be read;
  /// WorldError.
  virtual TestReport test(const StoredRun& run, const std::vector<Device>& devices,
                          World* world) = 0;
};

/// Sets the model's own flags as a run was trained with them.
/// Fails: UsageError that names the entry when the run's configuration does not fit.
void take_flags_of(const StoredRun& run, ModelTraining& training);

}  // namespace pagoda::app
