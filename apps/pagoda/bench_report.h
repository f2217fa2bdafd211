#pragma once

#include <CLI/CLI.hpp>

#include "bench.h"
#include "flags.h"

namespace pagoda::app {

/// How any model is measured and what is printed.
struct BenchFlags {
  DeviceFlags devices = {};
  BenchOptions bench = {};
  int rounds = 7;
  bool serve = false;
  bool json = false;
};
void add_bench_flags(CLI::App& command, BenchFlags& flags);

/// Measures 1 to all towers and prints a row for each; or, to be alternated with other programs,
/// runs a round for each line on stdin. Gives the exit code.
/// Fails: UsageError for a line that is no mode.
int run_bench(const BenchFlags& flags, const MakeBench& make);

}  // namespace pagoda::app
