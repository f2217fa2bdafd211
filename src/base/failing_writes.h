#pragma once

namespace pagoda {

// Two ways in which a write fails end the process by default, before it can say why or save. From
// these calls on the write fails like any other. A handler that the program has set stays.

/// Writing to a pipe or connection whose other side is gone fails with EPIPE.
void ignore_broken_pipes();

/// Writing past the size that files may have (`ulimit -f`) fails with EFBIG.
void ignore_file_size_limit();

}  // namespace pagoda
