#pragma once

// How much memory this process really occupies.

#include <cstdint>
#include <fstream>
#include <malloc.h>
#include <unistd.h>

namespace pagoda::testing {

/// A sanitizer keeps freed memory and adds its own, so that sizes mean nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsMeasurable = false;
#else
inline constexpr bool kMemoryIsMeasurable = true;
#endif

/// Bytes in memory now, without what the allocator only keeps for later.
inline std::int64_t resident_bytes() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::int64_t all_pages = 0;
  std::int64_t resident_pages = 0;
  statm >> all_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

}  // namespace pagoda::testing
