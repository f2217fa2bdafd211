#pragma once

#include <pagoda/params/parameter_table.h>

#include <vector>

namespace pagoda::app {

/// Weights with every matrix in 8 bits: for a matrix called NAME (and for any floating-point tensor with
/// more dimensions) "NAME.int8" and "NAME.scale", of which row r of NAME is the product; the rest as it is.
std::vector<NamedTensor> int8_tensors(const std::vector<NamedTensor>& weights);

/// Weights as they were before int8_tensors, but for the rounding; others are left alone.
/// Fails: DataError for 8 bits without a scale for each row.
std::vector<NamedTensor> widened_tensors(const std::vector<NamedTensor>& weights);

}  // namespace pagoda::app
