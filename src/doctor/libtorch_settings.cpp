#include "doctor/libtorch_settings.h"

namespace pagoda {
namespace {

/// The value of "NAME=value," in the list; empty if it is not there.
std::string setting(const std::string& config, const std::string& name) {
  const std::string start = " " + name + "=";
  const std::size_t at = config.find(start);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + start.size();
  return config.substr(begin, config.find_first_of(", \n", begin) - begin);
}

}  // namespace

LibtorchSettings libtorch_settings(const std::string& config) {
  const std::string cuda = setting(config, "USE_CUDA");
  return {.version = setting(config, "TORCH_VERSION"), .has_cuda = cuda == "1" || cuda == "ON"};
}

}  // namespace pagoda
