#pragma once

#include <pagoda/events/event_writer.h>
#include <pagoda/run/validation.h>
#include <pagoda/train/data_record.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// What a model brings to its run besides its feeds and its loss. Derive from it for a validation
/// of your own; `Run::train(data, validation, loss)` needs none.
///
/// Threads: everything is called on the coordinating thread, between two steps.
class RunTask {
 public:
  virtual ~RunTask() = default;

  /// The model's name, for display.
  virtual std::string name() const = 0;

  /// Called when a validation is due, with the averaged parameters in place if there are any.
  virtual Validation validate() = 0;

  /// The metric of a validation that decides which checkpoint is the best; "loss" means its loss.
  virtual std::string watched() const { return "loss"; }
  /// Whether more or less of that metric is better.
  virtual Better better() const { return Better::less; }

  /// What the model is trained on; a run is not resumed with anything else. Called only if the run
  /// has a directory or several processes.
  virtual DataRecord record() const { return {}; }

  /// Lines for the start of the log.
  virtual std::vector<std::string> about() const { return {}; }

  /// Adds files to the run's directory, before the first step of a new or resumed run. Not called
  /// for a run without a directory.
  virtual void prepare(const std::filesystem::path& /*directory*/) {}

  /// Writes what TensorBoard shows of a new run besides numbers.
  virtual void describe(EventWriter& /*events*/) {}
};

}  // namespace pagoda
