#pragma once

#include "bench/bench.h"

namespace pagoda::app {

/// LeNet-5 on random images.
std::unique_ptr<Bench> make_lenet5_bench(const std::vector<Device>& devices,
                                         const BenchOptions& options);

}  // namespace pagoda::app
