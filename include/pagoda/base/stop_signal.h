#pragma once

namespace pagoda {

/// Lets a long run end well when it is asked to by SIGINT (Ctrl-C), SIGTERM or SIGHUP (a closed
/// terminal): the first signal only sets a mark that the run looks at between two steps; a second
/// SIGINT or SIGTERM ends the process at once. A signal that is ignored when this is constructed, as
/// SIGHUP is under nohup, stays ignored.
///
/// From the first one on, SIGPIPE no longer ends the process, unless the program handles it: whatever
/// reads the log, `tee` for one, often goes with the same Ctrl-C, and the run must still save.
///
/// Threads: any. Signals belong to the process: several at a time see the same one, and the first of
/// them forgets what was before.
/// Example:
///     StopSignal signal;
///     while (!signal.asked()) run_step();
///     return signal.exit_code();
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Whether one of the signals has come.
  bool asked() const { return number() != 0; }

  /// The signal that came first, SIGHUP giving way to others; 0 while there was none.
  int number() const;

  /// What the process should return: 130 after SIGINT, 143 after SIGTERM, 129 after
  /// SIGHUP, 0 otherwise.
  int exit_code() const;
};

}  // namespace pagoda
