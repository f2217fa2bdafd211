#pragma once

#include <exception>
#include <string>

namespace pagoda {

/// What an exception of any kind says, as one line: without LibTorch's backtrace, and in plain words
/// about memory or a thread that could not be had, with what to do.
std::string error_text(const std::exception_ptr& error);

}  // namespace pagoda
