#pragma once

#include <pagoda/train/async_step.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lenet5_task.h"

namespace pagoda::app {

enum class BenchMode {
  full,            ///< synchronous steps
  unsynchronised,  ///< forward and backward on every tower, without waiting, combining or updating
  async,           ///< asynchronous steps, parameters on the host
  threads,         ///< synchronous steps of one tower with the cores of all as threads
};

/// "full", "unsynchronised", "async", "threads".
std::optional<BenchMode> bench_mode(std::string_view name);

struct BenchOptions {
  std::int64_t batch_size = 64;                       ///< samples for each tower
  std::int64_t steps = 20;                            ///< of a round
  std::optional<Placement> placement = std::nullopt;  ///< of the parameters
};

/// LeNet-5 with Adam on random images that lie in memory.
class LeNet5Bench {
 public:
  LeNet5Bench(const std::vector<Device>& devices, const BenchOptions& options);

  /// Runs one round and gives its samples per second over all towers.
  double run(BenchMode mode);

 private:
  double run_steps(BenchMode mode, std::int64_t steps);
  static double run_synchronous(SyncStep<LeNet5>& step,
                                const std::vector<std::vector<Batch>>& feeds, std::int64_t steps);
  double run_unsynchronised(std::int64_t steps);
  double run_asynchronous(std::int64_t steps);

  BenchOptions options_;
  Towers<LeNet5> towers_;
  SyncStep<LeNet5> step_;
  std::vector<std::vector<Batch>> feeds_;  // of a few steps, used in turn
  Towers<LeNet5> async_towers_;
  AsyncStep<LeNet5> async_step_;
  Towers<LeNet5> one_;  // one tower with all cores
  SyncStep<LeNet5> one_step_;
  std::vector<std::vector<Batch>> one_feeds_;
};

}  // namespace pagoda::app
