#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include <ATen/core/function_schema.h>

#include "program/graph.h"
#include "program/program_block.h"

namespace pagoda {

/// What a program asks for and this library cannot do; the compiler collects them.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The slot of a value that was computed before. Fails: Unsupported when there is none.
using SlotOf = std::function<int(const std::string& name)>;

/// An argument as an operator wants it: numbers become those of its type, or tensors where it takes
/// a tensor.
/// Fails: Unsupported when the argument is of a kind that the operator does not take.
Operand operand_for(const GraphArgument& argument, const c10::Argument& wanted,
                    const SlotOf& slot_of);

/// An argument as it is, for what has no schema.
Operand plain_operand(const GraphArgument& argument, const SlotOf& slot_of);

}  // namespace pagoda
