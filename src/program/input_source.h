#pragma once

#include <cstddef>

#include <ATen/core/ivalue.h>

namespace pagoda {

/// Where an input of a graph comes from.
struct InputSource {
  enum class Kind { user, number, state, constant, literal };

  Kind kind;
  std::size_t index = 0;     ///< among the user's inputs, the state or the constants
  c10::IValue literal = {};  ///< what was no tensor when the program was written
};

}  // namespace pagoda
