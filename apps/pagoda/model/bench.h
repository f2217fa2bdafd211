#pragma once

#include <pagoda/tower/tower_group.h>
#include <pagoda/train/step_options.h>
#include <pagoda/world/world.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace pagoda::app {

enum class BenchMode {
  full,            ///< synchronous steps
  unsynchronised,  ///< forward and backward on every tower, without waiting, combining or updating
  async,           ///< asynchronous steps, parameters on the host
  threads,         ///< synchronous steps of one tower with the cores of all as threads
};

/// "full", "unsynchronised", "async", "threads".
std::optional<BenchMode> bench_mode(std::string_view name);

/// How much is measured.
struct BenchLength {
  std::int64_t steps = 20;  ///< of a round
  int rounds = 7;           ///< of which the median counts
};

struct BenchOptions {
  std::int64_t batch_size = 64;  ///< samples for each tower
  /// Samples of all towers in one step, instead.
  std::optional<std::int64_t> global_batch_size = std::nullopt;
  std::int64_t steps = BenchLength{}.steps;                    ///< of a round
  std::optional<ParameterPlacement> placement = std::nullopt;  ///< of the parameters
  Precision precision = Precision::fp32;                       ///< of forward and loss
  MatmulPrecision matmul = MatmulPrecision::highest;           ///< of fp32 products on cards
  int stages = 1;  ///< more make one tower of so many devices; synchronous steps only
  std::shared_ptr<World> world = nullptr;  ///< other processes that step together with this one
  WireType wire = WireType::fp32;          ///< what gradients travel in between them
  LocalSteps local_steps = {};             ///< how often they meet
};

/// The options of so many devices, in all processes, which divide a global batch among them.
/// Fails: UsageError when it cannot be divided.
BenchOptions for_devices(BenchOptions options, std::size_t devices);

/// What a round has found, without its first steps, which warm up.
struct BenchRound {
  double samples_per_second = 0;  ///< over all towers of this process
  std::int64_t steps = 0;
  WorldTraffic traffic = {};  ///< with other processes
};

/// A model that is trained on made-up samples on some towers.
class Bench {
 public:
  virtual ~Bench() = default;

  virtual BenchRound run(BenchMode mode) = 0;
};

/// One CPU device with the cores of all; cards cannot be joined, so the first stands for them.
Device all_cores(const std::vector<Device>& devices);

}  // namespace pagoda::app
