#pragma once

namespace pagoda {

/// Lets a long run end well when it is asked to by SIGINT (Ctrl-C), SIGTERM, SIGHUP (a closed
/// terminal), or by what batch systems send before a job's time is over: SIGUSR1, and SIGXCPU for
/// time of computing (`ulimit -t`). The first signal only sets a mark that the run looks at between
/// two steps; a second SIGINT or SIGTERM ends the process at once. A signal that is ignored when this
/// is constructed, as SIGHUP is under nohup, stays ignored; the program's own handlers of SIGUSR1 and
/// SIGXCPU stay, too.
///
/// From the first one on, SIGPIPE and SIGXFSZ no longer end the process, unless the program handles
/// them: whatever reads the log, `tee` for one, often goes with the same Ctrl-C, and the run must
/// still save; a file that may not grow any more is an error like any other.
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

  /// The signal that came first, all others giving way to SIGINT and SIGTERM; 0 while there was
  /// none.
  int number() const;

  /// What the process should return: 128 and the signal's number (130 after SIGINT, 143 after
  /// SIGTERM), or 0.
  int exit_code() const;
};

}  // namespace pagoda
