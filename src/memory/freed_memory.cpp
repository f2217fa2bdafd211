#include "memory/freed_memory.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <malloc.h>

namespace pagoda {
namespace {

[[maybe_unused]] bool user_has_set_malloc() {
  constexpr const char* kVariables[] = {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_",
                                        "MALLOC_TOP_PAD_", "GLIBC_TUNABLES"};
  return std::any_of(std::begin(kVariables), std::end(kVariables),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

bool keep() {
#ifdef __GLIBC__
  if (user_has_set_malloc()) return false;
  constexpr int kLargestPiece = 32 << 20;  // glibc takes no more
  constexpr int kHeap = 64 << 20;          // of a thread's arena; given back whole otherwise
  mallopt(M_MMAP_THRESHOLD, kLargestPiece);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kHeap);
#endif
  return true;
}

}  // namespace

void keep_freed_memory() { [[maybe_unused]] static const bool once = keep(); }

}  // namespace pagoda
