// What libFuzzer calls: the one reader that is linked with it.

#include <pagoda/base/error.h>

#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    pagoda::fuzz::targets().front().read({reinterpret_cast<const char*>(data), size});
  } catch (const pagoda::Error&) {
    // refused, as it may
  }
  return 0;
}
