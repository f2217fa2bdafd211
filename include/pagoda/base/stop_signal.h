#pragma once

namespace pagoda {

/// Lets a long run end cleanly on SIGINT (Ctrl-C), SIGTERM, SIGHUP (a closed terminal), or a signal
/// that batch systems send before a job's time is up: SIGUSR1, and SIGXCPU for CPU time
/// (`ulimit -t`). The first signal only sets a flag, which the run checks between steps; a second
/// SIGINT or SIGTERM ends the process at once. A signal that is ignored when this is constructed,
/// as SIGHUP is under nohup, stays ignored; the program's own handlers of SIGUSR1 and SIGXCPU stay,
/// too.
///
/// Once the first StopSignal is constructed, SIGPIPE and SIGXFSZ no longer end the process, unless
/// the program handles them: whatever reads the log, such as `tee`, often ends with the same
/// Ctrl-C, and the run must still be able to save; a write beyond the file size limit is an error
/// like any other.
///
/// Threads: any. Signals belong to the process: all StopSignals alive at a time see the same one,
/// and constructing one while no other is alive forgets earlier signals.
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

  /// Whether one of the signals has arrived.
  bool asked() const { return number() != 0; }

  /// The first signal that arrived, except that SIGINT and SIGTERM replace any other; 0 if none has
  /// arrived.
  int number() const;

  /// The exit code that the process should return: 128 plus the signal's number (130 after SIGINT,
  /// 143 after SIGTERM), or 0 if none has arrived.
  int exit_code() const;
};

}  // namespace pagoda
