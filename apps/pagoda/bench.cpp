#include "bench.h"

namespace pagoda::app {

std::optional<BenchMode> bench_mode(std::string_view name) {
  if (name == "full") return BenchMode::full;
  if (name == "unsynchronised") return BenchMode::unsynchronised;
  if (name == "async") return BenchMode::async;
  if (name == "threads") return BenchMode::threads;
  return std::nullopt;
}

Device all_cores(const std::vector<Device>& devices) {
  Device one = devices.front();
  for (std::size_t i = 1; i < devices.size(); ++i) {
    one.cores.insert(one.cores.end(), devices[i].cores.begin(), devices[i].cores.end());
  }
  return one;
}

}  // namespace pagoda::app
