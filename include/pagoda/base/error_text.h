#pragma once

#include <exception>
#include <string>

namespace pagoda {

/// What an exception of any type says, as one line: without LibTorch's backtrace, and, if memory or
/// threads have run out, in plain words that say what to do.
std::string error_text(const std::exception_ptr& error);

}  // namespace pagoda
