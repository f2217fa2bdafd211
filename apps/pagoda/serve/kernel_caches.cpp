#include "serve/kernel_caches.h"

#include <cstdlib>

namespace pagoda::app {

void bound_kernel_caches() {
  constexpr const char* kKept = "64";
  for (const char* name : {"ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"})
    ::setenv(name, kKept, /*overwrite=*/0);
}

}  // namespace pagoda::app
