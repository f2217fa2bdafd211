#include <pagoda/base/version.h>

#include <ATen/Version.h>
#include <torch/version.h>

namespace pagoda {

const char* version() { return PAGODA_VERSION; }

const char* libtorch_version() { return TORCH_VERSION; }

std::string version_text() {
#ifdef NDEBUG
  const char* const build = "release build";
#else
  const char* const build = "debug build";
#endif
  return std::string("Pagoda ") + version() + ", LibTorch " + libtorch_version() + ", " + build +
         ", " + at::get_cpu_capability();
}

}  // namespace pagoda
