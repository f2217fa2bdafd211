#pragma once

#include <pagoda/run/optimizer_choice.h>
#include <pagoda/tower/tower_group.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <CLI/CLI.hpp>

#include "model/bench.h"

namespace pagoda::app {

/// A few synchronous steps on made-up samples, for `pagoda verify`.
struct TrialOptions {
  std::int64_t batch_size = 16;  ///< samples of a feed
  std::int64_t feeds = 1;        ///< of a step; one for each tower
  bool joined = false;           ///< a step's feeds are joined into one
  std::int64_t steps = 5;
  std::uint64_t seed = 1;             ///< of samples, initial values and dropout
  at::ScalarType type = at::kDouble;  ///< of parameters and samples
  double dropout = 0;
  std::optional<ParameterPlacement> placement = std::nullopt;
  OptimizerChoice optimizer = {};
};

/// How a model is measured and checked on made-up samples, whatever its types: derive from
/// MadeUpMeasuring. Holds the values of its flags.
class ModelMeasuring {
 public:
  virtual ~ModelMeasuring() = default;

  /// What the model and its samples look like.
  virtual void add_flags(CLI::App& /*command*/) {}

  /// How long `pagoda bench` measures unless it is told.
  virtual BenchLength bench_length() const { return {}; }

  /// So many stages are possible; 1 for a model that cannot be cut.
  virtual int layers() const = 0;

  virtual std::unique_ptr<Bench> bench(const std::vector<Device>& devices,
                                       const BenchOptions& options) const = 0;

  /// The parameters after the steps of a trial.
  virtual std::vector<at::Tensor> parameters_after(const std::vector<Device>& devices,
                                                   const TrialOptions& options) const = 0;
};

}  // namespace pagoda::app
