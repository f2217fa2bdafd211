#pragma once

#include <c10/core/Allocator.h>

namespace pagoda {

/// Host memory that simulated cards copy from and to without the host's waiting, as CUDA does with
/// memory whose pages are pinned. Freed memory lives on until copies from and to it are done.
c10::Allocator* pinned_allocator();

/// Whether the address lies in memory of that allocator.
bool is_pinned(const void* address);

}  // namespace pagoda
