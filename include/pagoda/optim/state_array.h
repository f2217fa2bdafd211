#pragma once

#include <cstddef>
#include <string>

namespace pagoda {

/// Numbers that an optimizer keeps for a parameter, one for each of its elements. A checkpoint has
/// them as a tensor "<name>/<parameter>", such as "momentum/conv1.weight".
struct StateArray {
  std::string name;    ///< in checkpoints, before the parameter's
  double initial = 0;  ///< what every element starts with
};

/// The most that an optimizer may keep for a parameter.
inline constexpr std::size_t kMaxStateArrays = 4;

}  // namespace pagoda
