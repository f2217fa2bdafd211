#pragma once

#include <string>

namespace pagoda {

/// What the LibTorch that runs says of itself; its headers only know the one that was compiled with.
struct LibtorchSettings {
  std::string version = {};  ///< "2.13.0"; empty where it is not said
  bool has_cuda = false;
};

/// Reads the text of at::show_config: "… Build settings: …, TORCH_VERSION=2.13.0, USE_CUDA=0, …".
LibtorchSettings libtorch_settings(const std::string& config);

}  // namespace pagoda
