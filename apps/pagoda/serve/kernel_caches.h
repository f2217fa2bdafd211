#pragma once

namespace pagoda::app {

/// Lets LibTorch keep few compiled products. oneDNN compiles one for every shape and keeps 1,024 of
/// them, a quarter of a MiB each, in two caches; and a server's batches take every shape, so that its
/// memory would grow for hours.
///
/// Nothing is changed where the environment sets ONEDNN_PRIMITIVE_CACHE_CAPACITY or
/// LRU_CACHE_CAPACITY. Threads: before any other, and before LibTorch computes anything.
void bound_kernel_caches();

}  // namespace pagoda::app
