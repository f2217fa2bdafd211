#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// The values of tensors in CPU memory; from a card they come together, in one copy for each type of
/// number. Of those that are there already: the tensors themselves.
std::vector<at::Tensor> packed_to_host(const std::vector<at::Tensor>& tensors);

/// Gives the tensors these values, which are in CPU memory; to a card they go together, as above.
void packed_from_host(const std::vector<at::Tensor>& values,
                      const std::vector<at::Tensor>& tensors);

}  // namespace pagoda
