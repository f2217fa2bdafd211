#pragma once

#include <pagoda/base/error.h>

#include <string>

namespace pagoda {

/// Fails: UsageError with the problem unless all is fine.
inline void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError(problem);
}

}  // namespace pagoda
