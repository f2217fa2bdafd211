#pragma once

namespace pagoda {

/// Tells glibc's allocator to keep the memory that is freed instead of giving it back to the system.
///
/// The tensors of a step come and go with every step, and pages that come anew must be cleared by
/// the kernel first: with LeNet-5 on two towers that was an eighth of the time. TowerGroup calls it.
/// It holds for the whole process and all of its threads: memory that was once used stays with it,
/// up to 2 GiB of it at a time in each of the allocator's arenas. Pieces above 32 MiB still go back.
///
/// Nothing is changed when the environment sets MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_,
/// MALLOC_TOP_PAD_ or GLIBC_TUNABLES, and with other C libraries.
///
/// Threads: any; the first call counts.
void keep_freed_memory();

}  // namespace pagoda
