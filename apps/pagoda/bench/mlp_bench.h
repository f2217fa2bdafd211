#pragma once

#include <CLI/CLI.hpp>

#include "bench/bench.h"

namespace pagoda::app {

/// A model of equal layers, of any size: what the machine does with very small and very large ones.
struct MlpBenchFlags {
  int layers = 4;
  std::int64_t width = 512;
};
void add_mlp_bench_flags(CLI::App& command, MlpBenchFlags& flags);

std::unique_ptr<Bench> make_mlp_bench(const std::vector<Device>& devices,
                                      const BenchOptions& options, const MlpBenchFlags& flags);

}  // namespace pagoda::app
