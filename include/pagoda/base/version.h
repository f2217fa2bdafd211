#pragma once

#include <string>

namespace pagoda {

/// Pagoda's version, such as "0.1.0".
const char* version();

/// The version of the LibTorch that Pagoda was built with, such as "2.13.0".
const char* libtorch_version();

/// "Pagoda 0.1.0, LibTorch 2.13.0, release build, AVX512"; the last part is the instruction set
/// that LibTorch uses on this machine.
std::string version_text();

}  // namespace pagoda
