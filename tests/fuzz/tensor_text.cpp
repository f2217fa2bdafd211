#include "fuzz/tensor_text.h"

#include <sstream>

namespace pagoda::fuzz {

std::string tensor_text(const std::vector<NamedTensor>& tensors) {
  std::ostringstream text;
  for (const auto& [name, tensor] : tensors) {
    text << name << ": ";
    if (!tensor.defined()) continue;
    const at::Tensor packed = tensor.contiguous();
    text << packed.scalar_type() << packed.sizes() << " ";
    text.write(static_cast<const char*>(packed.const_data_ptr()),
               static_cast<std::streamsize>(packed.nbytes()));
    text << "\n";
  }
  return text.str();
}

}  // namespace pagoda::fuzz
