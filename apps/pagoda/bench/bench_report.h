#pragma once

#include <pagoda/cli/run_flags.h>

#include <CLI/CLI.hpp>

#include "bench/choice.h"

namespace pagoda::app {

/// How any model is measured and what is printed.
struct BenchFlags {
  DeviceChoice devices = {};
  std::optional<ParameterPlacement> parameters = std::nullopt;
  WorldChoice processes = {};
  BenchOptions bench = {};
  int rounds = BenchLength{}.rounds;
  bool serve = false;
  bool json = false;
  ChoiceFlags choice = {};
};
void add_bench_flags(CLI::App& command, BenchFlags& flags);

/// Measures 1 to all towers and prints a row for each; or finds the fastest way to train; or, to be
/// alternated with other programs, runs a round for each line on stdin, also in several processes.
/// Gives the exit code.
/// Fails: UsageError for a line that is no mode; as `choose_way`.
int run_bench(const MeasuredModel& measured, BenchFlags flags);

}  // namespace pagoda::app
