#include "model/bench.h"

#include <pagoda/base/error.h>

namespace pagoda::app {

std::optional<BenchMode> bench_mode(std::string_view name) {
  if (name == "full") return BenchMode::full;
  if (name == "unsynchronised") return BenchMode::unsynchronised;
  if (name == "async") return BenchMode::async;
  if (name == "threads") return BenchMode::threads;
  return std::nullopt;
}

BenchOptions for_devices(BenchOptions options, std::size_t devices) {
  if (!options.global_batch_size) return options;
  const auto parts = static_cast<std::int64_t>(devices);
  if (*options.global_batch_size % parts != 0) {
    throw UsageError("a global batch of " + std::to_string(*options.global_batch_size) +
                     " cannot be divided among " + std::to_string(parts) +
                     " devices; give a multiple");
  }
  options.batch_size = *options.global_batch_size / parts;
  return options;
}

Device all_cores(const std::vector<Device>& devices) {
  Device one = devices.front();
  for (std::size_t i = 1; i < devices.size(); ++i) {
    one.cores.insert(one.cores.end(), devices[i].cores.begin(), devices[i].cores.end());
  }
  return one;
}

}  // namespace pagoda::app
