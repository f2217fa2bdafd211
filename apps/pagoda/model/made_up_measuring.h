#pragma once

#include <memory>
#include <vector>

#include "model/model_measuring.h"
#include "model/tower_bench.h"
#include "model/tower_trial.h"

namespace pagoda::app {

/// Measures any model by its MadeUpTask.
///
/// Example:
///     class SpiralMeasuring : public MadeUpMeasuring<SpiralNet, Batch> {
///       MadeUpTask<SpiralNet, Batch> task() const override { return {.model = …, .feed = …}; }
///     };
template <class Model, Feed F>
class MadeUpMeasuring : public ModelMeasuring {
 public:
  int layers() const final {
    if constexpr (NamesLayers<Model>) {
      Model model = task().model(0);
      return static_cast<int>(model->layers().size());
    } else {
      return 1;
    }
  }

  std::unique_ptr<Bench> bench(const std::vector<Device>& devices,
                               const BenchOptions& options) const final {
    return std::make_unique<TowerBench<Model, F>>(devices, options, task());
  }

  std::vector<at::Tensor> parameters_after(const std::vector<Device>& devices,
                                           const TrialOptions& options) const final {
    return run_trial(devices, task(), options);
  }

 private:
  /// As the flags say.
  virtual MadeUpTask<Model, F> task() const = 0;
};

}  // namespace pagoda::app
