#pragma once

namespace pagoda {

/// From here on, writing to a pipe or connection whose other side is gone fails with EPIPE, as other
/// errors of writing do; by default it ends the process. A handler that the program has set stays.
void ignore_broken_pipes();

}  // namespace pagoda
