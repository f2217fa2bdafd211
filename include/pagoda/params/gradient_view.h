#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// One row of a parameter that received a gradient, and where the towers' shares of it are.
struct TouchedRow {
  /// One tower's share of the row's gradient.
  struct Share {
    int tower;  ///< the tower whose share it is
    /// As many elements as a row of the parameter has, of its type.
    const void* values;
  };
  std::int64_t row;           ///< the row's number
  std::vector<Share> shares;  ///< in tower order
};

/// The gradient of one parameter as the towers left it.
struct ParameterGradient {
  /// What the towers left.
  enum class Form {
    /// No tower used the parameter in this step: it stays as it is.
    none,
    /// `towers[t]` has the parameter's shape and memory layout; undefined means zero.
    dense,
    /// `towers[t]` is already the sum over all towers, on the device of tower t; all towers have
    /// the same factor. Only an update on these devices can read it.
    summed,
    /// Only the rows in `touched` have a gradient (embeddings); the rest is zero.
    rows,
  };
  Form form = Form::none;  ///< which of these it is
  /// The towers' gradients, by tower; they own the memory that `touched` points into.
  std::vector<at::Tensor> towers;
  std::vector<TouchedRow> touched;  ///< sorted by row; for Form::rows
};

/// For Form::summed: the sum on this device; the first one if there is none here.
inline const at::Tensor& summed_on(const ParameterGradient& gradient, c10::Device device) {
  for (const auto& one : gradient.towers) {
    if (one.defined() && one.device() == device) return one;
  }
  return gradient.towers.front();
}

/// What an update reads: for each parameter N gradients, and for each tower one factor. The
/// combined gradient is `sum over t of weights[t] * towers[t]`, summed in tower order, so that its
/// bits do not depend on which tower finished first.
///
/// Threads: immutable while an update runs; any number of threads may then read it.
struct GradientView {
  std::vector<double> weights;                ///< factor of each tower's gradient in the sum
  std::vector<ParameterGradient> parameters;  ///< in the order of ParameterTable::trainable
};

}  // namespace pagoda
