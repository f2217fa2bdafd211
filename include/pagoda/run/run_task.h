#pragma once

#include <pagoda/events/event_writer.h>
#include <pagoda/run/validation.h>
#include <pagoda/train/data_record.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// What a model brings to its run besides its feeds and its loss. Derive from it for a validation of
/// your own; `Run::train(data, validation, loss)` needs none.
///
/// Threads: all of it is called on the coordinating thread, between two steps.
class RunTask {
 public:
  virtual ~RunTask() = default;

  /// The model's name, for people.
  virtual std::string name() const = 0;

  /// Called when a validation falls due, with the averaged parameters in place where there are any.
  virtual Validation validate() = 0;

  /// The metric of a validation that decides which checkpoint is the best; "loss" is its loss.
  virtual std::string watched() const { return "loss"; }
  /// Whether more or less of it is better.
  virtual Better better() const { return Better::less; }

  /// What it is trained on; a run is not resumed with anything else. Not called for a run without a
  /// directory.
  virtual DataRecord record() const { return {}; }

  /// Lines for the beginning of the log.
  virtual std::vector<std::string> about() const { return {}; }

  /// Adds to the directory of a run before its first step, and whenever it resumes; not called for a
  /// run without one.
  virtual void prepare(const std::filesystem::path& /*directory*/) {}

  /// Writes what TensorBoard shows of a new run besides numbers.
  virtual void describe(EventWriter& /*events*/) {}
};

}  // namespace pagoda
