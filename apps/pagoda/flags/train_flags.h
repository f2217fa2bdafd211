#pragma once

#include <pagoda/data/batches.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/stalled_rate.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "flags/device_flags.h"
#include "flags/interval.h"
#include "flags/optimizer_flags.h"
#include "flags/pipeline_flags.h"

namespace pagoda::app {

/// What every `pagoda train MODEL` can be told: how to train, when to stop, what to write.
struct TrainFlags {
  DeviceFlags devices;
  std::string parameters = kPlacedBySystem;
  std::string update = "sync";
  std::optional<std::int64_t> max_staleness;
  PipelineFlags pipeline;
  OptimizerFlags optimizer;
  std::int64_t batch_size = BatchesOptions{}.batch_size;
  std::optional<std::int64_t> global_batch_size;
  int accumulate = BatchesOptions{}.feeds_per_tower;
  std::int64_t epochs = 5;
  std::optional<std::int64_t> max_steps;
  std::optional<double> max_time;
  std::int64_t overfit_batches = 0;
  std::string on_non_finite = "stop";
  std::uint64_t seed = 1;
  int loader_threads = BatchesOptions{}.loader_threads;
  std::string valid_every = "1e";
  std::int64_t early_stopping = 0;
  double lr_stall_factor = 1;
  std::int64_t lr_stall_tests = StalledRate{}.validations;
  bool dry_run = false;

  std::string out;
  std::string save_every = "1e";
  int keep_last = 3;
  bool overwrite = false;
  bool histograms = false;
  bool log_placement = false;
  std::int64_t log_every = 20;
  std::string log_format = "text";
  std::string trace;
  std::string trace_steps = "11:15";
  bool json = false;
  std::string config;
  bool dump_config = false;

  /// Seed and placement; asynchronous towers have their parameters on the host.
  TowerOptions tower_options() const;

  /// Nothing for synchronous updates. Fails: UsageError for a bound without asynchronous ones.
  std::optional<AsyncOptions> async_options() const;

  /// Samples of one feed. Fails: UsageError when the batch cannot be divided among them.
  std::int64_t feed_size(int towers) const;
  /// Steps of the whole run.
  std::int64_t run_steps(std::int64_t steps_per_epoch) const {
    return max_steps.value_or(epochs * steps_per_epoch);
  }
  /// Feeds of each tower in one step.
  int feeds_per_tower() const { return accumulate * pipeline.parts(); }

  /// When the learning rate falls; never for a factor of 1. Fails: UsageError for a factor that
  /// cannot be.
  std::optional<StalledRate> stalled_rate() const;
};
void add_train_flags(CLI::App& command, TrainFlags& flags);

/// Options that may change when a run goes on: where it runs, how it is watched and when it ends.
std::vector<std::string> changeable_options();

}  // namespace pagoda::app
