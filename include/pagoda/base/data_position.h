#pragma once

#include <cstdint>

namespace pagoda {

/// Where a run is in its data.
struct DataPosition {
  std::int64_t epoch = 0;     ///< completed passes over the data
  std::int64_t consumed = 0;  ///< samples of this epoch already used

  bool operator==(const DataPosition&) const = default;
};

}  // namespace pagoda
