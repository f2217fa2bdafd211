#pragma once

#include <cstdint>
#include <filesystem>

namespace pagoda {

/// Records what the process does during some steps, in a file that chrome://tracing and Perfetto
/// can show: one row per tower, with its phases and operators.
///
/// Recording slows the steps down and takes memory (about 400 bytes per operator), so record only a
/// few steps. Only one trace at a time is possible in a process.
///
/// Threads: the thread that runs the steps.
/// Fails: UsageError unless 1 <= first <= last; IoError when the file cannot be written. A trace
/// that is destroyed before its last step writes nothing.
/// Example:
///     StepTrace trace("trace.json", 11, 15);
///     trace.before(number);
///     step.run(feeds, loss);
///     trace.after(number);
class StepTrace {
 public:
  /// Traces steps `first` to `last`, numbered as in the calls of `before` and `after`.
  StepTrace(std::filesystem::path file, std::int64_t first, std::int64_t last);
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// Starts recording at the first step.
  void before(std::int64_t step);

  /// Writes the file after the last step; returns whether it did.
  bool after(std::int64_t step);

 private:
  const std::filesystem::path file_;
  const std::int64_t first_;
  const std::int64_t last_;
  bool recording_ = false;
};

}  // namespace pagoda
