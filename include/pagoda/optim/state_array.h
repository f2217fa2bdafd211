#pragma once

#include <cstddef>
#include <string>

namespace pagoda {

/// Numbers that an optimizer keeps for a parameter, one for each of its elements. A checkpoint
/// stores them as a tensor "<name>/<parameter>", such as "momentum/conv1.weight".
struct StateArray {
  std::string name;    ///< name in checkpoints, before the parameter's name
  double initial = 0;  ///< initial value of every element
};

/// The largest number of such arrays that an optimizer may keep for a parameter.
inline constexpr std::size_t kMaxStateArrays = 4;

}  // namespace pagoda
