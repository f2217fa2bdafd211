#pragma once

#include <cstdint>
#include <filesystem>

namespace pagoda {

/// Records what the process does during some steps, as a file that chrome://tracing and Perfetto
/// show: a row for each tower with its phases and operators.
///
/// Recording slows the steps down and takes memory (about 400 bytes an operator): a few steps are
/// enough. One trace at a time in a process.
///
/// Threads: the thread that runs the steps.
/// Fails: UsageError when the steps are not 1 <= first <= last; IoError when the file cannot be
/// written. A trace that is destroyed before its last step writes nothing.
/// Example:
///     StepTrace trace("trace.json", 11, 15);
///     trace.before(number);
///     step.run(feeds, loss);
///     trace.after(number);
class StepTrace {
 public:
  /// Steps `first` to `last`, in the numbers that `before` and `after` get.
  StepTrace(std::filesystem::path file, std::int64_t first, std::int64_t last);
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// Begins to record at the first step.
  void before(std::int64_t step);

  /// Writes the file after the last step; true if it did.
  bool after(std::int64_t step);

 private:
  const std::filesystem::path file_;
  const std::int64_t first_;
  const std::int64_t last_;
  bool recording_ = false;
};

}  // namespace pagoda
