#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// One row of a parameter that received a gradient, and where the towers' shares of it lie.
struct TouchedRow {
  /// What one tower has for the row.
  struct Share {
    int tower;  ///< whose it is
    /// As many elements as the parameter has in a row, of the parameter's type.
    const void* values;
  };
  std::int64_t row;           ///< its number
  std::vector<Share> shares;  ///< in tower order
};

/// The gradient of one parameter as the towers left it.
struct ParameterGradient {
  /// How the towers left it.
  enum class Form {
    /// No tower used the parameter in this step: it stays as it is.
    none,
    /// `towers[t]` has the parameter's shape and memory layout; undefined means zero.
    dense,
    /// `towers[t]` is the sum over all towers already, on the device of tower t; their factors are
    /// equal. Only an update on these devices can read it.
    summed,
    /// Only `touched` rows have a gradient (embeddings); the rest is zero.
    rows,
  };
  Form form = Form::none;  ///< which of these it is
  /// Keeps the memory alive that `dense` and `touched` point into.
  std::vector<at::Tensor> towers;
  std::vector<TouchedRow> touched;  ///< sorted by row; for Form::rows
};

/// Of Form::summed: the sum on this device.
inline const at::Tensor& summed_on(const ParameterGradient& gradient, c10::Device device) {
  for (const auto& one : gradient.towers) {
    if (one.defined() && one.device() == device) return one;
  }
  return gradient.towers.front();
}

/// What an update reads: for each parameter N gradients and one factor for each tower. The gradient
/// is `sum over t of weights[t] * towers[t]`, summed in tower order, so that the bits do not depend
/// on who finished first.
///
/// Threads: immutable while an update runs; then any number of threads may read it.
struct GradientView {
  std::vector<double> weights;                ///< of each tower's gradient in the sum
  std::vector<ParameterGradient> parameters;  ///< in the order of ParameterTable::trainable
};

}  // namespace pagoda
