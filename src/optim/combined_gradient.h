#pragma once

#include <pagoda/params/gradient_view.h>

#include <cstdint>
#include <vector>

#include "params/block_plan.h"

namespace pagoda {

/// The weighted sum over the towers' gradients of one parameter, for the elements in `range`, in
/// CPU memory and of the parameter's `type` (float or double).
at::Tensor combined_elements(const ParameterGradient& gradient, const std::vector<double>& weights,
                             std::int64_t row_elements, const ElementRange& range,
                             at::ScalarType type);

struct CombinedRows {
  at::Tensor numbers;  ///< of the touched rows, counted from the first row of the range
  at::Tensor values;   ///< a row of sums for each
};

/// The same for Form::rows and the touched rows alone; the range must consist of whole rows.
CombinedRows combined_rows(const ParameterGradient& gradient, const std::vector<double>& weights,
                           std::int64_t row_elements, const ElementRange& range,
                           at::ScalarType type);

/// The same as a sparse tensor in the parameter's shape.
at::Tensor combined_sparse(const at::Tensor& parameter, const ParameterGradient& gradient,
                           const std::vector<double>& weights);

}  // namespace pagoda
