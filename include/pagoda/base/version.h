#pragma once

namespace pagoda {

/// "0.1.0".
const char* version();

/// Of the LibTorch that Pagoda was built with: "2.13.0".
const char* libtorch_version();

}  // namespace pagoda
