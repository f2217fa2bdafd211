#pragma once

#include <pagoda/params/layer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pagoda {

/// What one layer costs for one micro-batch.
struct LayerCost {
  std::string name;                   ///< the layer's
  double forward_seconds = 0;         ///< median time
  double backward_seconds = 0;        ///< median time
  std::int64_t parameter_bytes = 0;   ///< of its parameters and buffers
  std::int64_t activation_bytes = 0;  ///< what it hands to the next layer

  /// Of both ways.
  double seconds() const { return forward_seconds + backward_seconds; }
};

/// Runs the layers one after another with these inputs, forward and backward, and gives the median
/// times of each. Gradients that the parameters had are gone afterwards.
///
/// Threads: the calling one; pin it to one device's cores for times of one device.
/// Example: `balance(layer_seconds(measure_layers(model->layers(), {images})), 2)`
std::vector<LayerCost> measure_layers(const std::vector<Layer>& layers, const Tensors& inputs,
                                      int rounds = 7);

/// The times alone, for `balance`.
std::vector<double> layer_seconds(const std::vector<LayerCost>& costs);

}  // namespace pagoda
