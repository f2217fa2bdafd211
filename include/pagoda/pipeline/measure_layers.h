#pragma once

#include <pagoda/params/layer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pagoda {

/// What one layer costs for one micro-batch.
struct LayerCost {
  std::string name;                   ///< the layer's name
  double forward_seconds = 0;         ///< median time
  double backward_seconds = 0;        ///< median time
  std::int64_t parameter_bytes = 0;   ///< size of its parameters and buffers
  std::int64_t activation_bytes = 0;  ///< size of what it hands to the next layer

  /// Forward and backward together.
  double seconds() const { return forward_seconds + backward_seconds; }
};

/// Runs the layers one after another on these inputs, forward and backward, once to warm up and
/// then `rounds` times (at least 1), and returns each layer's median times. The parameters'
/// gradients are discarded.
///
/// Threads: the calling one; pin it to a device's cores to measure that device.
/// Fails: UsageError for fewer than 1 round.
/// Example: `balance(layer_seconds(measure_layers(model->layers(), {images})), 2)`
std::vector<LayerCost> measure_layers(const std::vector<Layer>& layers, const Tensors& inputs,
                                      int rounds = 7);

/// The times alone, for `balance`.
std::vector<double> layer_seconds(const std::vector<LayerCost>& costs);

}  // namespace pagoda
