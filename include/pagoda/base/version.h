#pragma once

#include <string>

namespace pagoda {

/// "0.1.0".
const char* version();

/// Of the LibTorch that Pagoda was built with: "2.13.0".
const char* libtorch_version();

/// "Pagoda 0.1.0, LibTorch 2.13.0, release build, AVX512": the last is what LibTorch computes with here.
std::string version_text();

}  // namespace pagoda
