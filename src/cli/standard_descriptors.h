#pragma once

namespace pagoda {

/// Opens those of stdin, stdout and stderr that are closed on /dev/null, before any other file: one
/// of ours would get their number, and the log would be written into it. Reading stdin and writing
/// stdout go on failing, as with a closed one; what goes to stderr is lost.
///
/// Threads: first of all in `main`.
void occupy_standard_descriptors();

}  // namespace pagoda
