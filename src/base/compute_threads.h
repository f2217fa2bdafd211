#pragma once

namespace pagoda {

/// Lets the operations of the calling thread compute with so many threads. LibTorch sets a thread's
/// number up at its first operation, which would undo an earlier choice: this comes after it.
void set_compute_threads(int count);

}  // namespace pagoda
