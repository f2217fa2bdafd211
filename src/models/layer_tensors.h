#pragma once

#include <pagoda/params/layer.h>

namespace pagoda {

/// Adds those of the tensors that are defined.
inline void add_tensors(Tensors& all, const Tensors& more) {
  for (const at::Tensor& tensor : more) {
    if (tensor.defined()) all.push_back(tensor);
  }
}

}  // namespace pagoda
