#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace pagoda {

/// A tensor of a model, with its name.
struct NamedTensor {
  std::string name;   ///< as in the model's state dict
  at::Tensor tensor;  ///< the model's own tensor, not a copy
};

/// The tensors of a model, each once, in the order in which the model registered them.
///
/// A tensor that is registered under two names (tied weights) appears under the first. The entries
/// are handles: they stay valid as long as the model keeps its tensors, even if these are given
/// other storage.
///
/// Threads: a value; do not read the model while another thread changes it.
struct ParameterTable {
  std::vector<NamedTensor> trainable;  ///< parameters that require a gradient
  std::vector<NamedTensor> frozen;     ///< parameters that do not
  std::vector<NamedTensor> buffers;    ///< state not learnt by gradients, such as BatchNorm's
};

/// The tensors of a module.
/// Fails: UsageError if two different trainable parameters overlap in memory, because a parallel
/// update would then write the same numbers twice; tie weights by registering one tensor twice.
ParameterTable table_of(const torch::nn::Module& module);

/// Fails: UsageError naming the first tensor in which `other` differs from `first` in name, shape,
/// type, or in whether it requires a gradient. `who` says whose table `other` is.
void check_same_layout(const ParameterTable& first, const ParameterTable& other,
                       const std::string& who);

/// The number of elements of all tensors together.
std::int64_t element_count(const std::vector<NamedTensor>& tensors);

}  // namespace pagoda
