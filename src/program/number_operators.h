#pragma once

#include <string_view>
#include <vector>

#include <ATen/core/ivalue.h>

namespace pagoda {

/// What programs compute with symbolic sizes: Python's operators on numbers.
///
/// Fails: DataError when the result does not fit, or a number is divided by zero.
using NumberOperator = c10::IValue (*)(const std::vector<c10::IValue>& operands);

struct NumberOperatorEntry {
  NumberOperator run = nullptr;  ///< null: there is none of that name
  std::size_t operands = 0;
};

/// By the target of a node: "_operator.mul", "torch.sym_max".
NumberOperatorEntry number_operator(std::string_view target);

}  // namespace pagoda
