#include <pagoda/base/version.h>

#include <torch/version.h>

namespace pagoda {

const char* version() { return PAGODA_VERSION; }

const char* libtorch_version() { return TORCH_VERSION; }

}  // namespace pagoda
