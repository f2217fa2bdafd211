#pragma once

#include <cstdint>

namespace pagoda {

/// Where a run stands in its data.
struct DataPosition {
  std::int64_t epoch = 0;     ///< passes over the data that are done
  std::int64_t consumed = 0;  ///< samples of this epoch that are done

  bool operator==(const DataPosition&) const = default;
};

}  // namespace pagoda
