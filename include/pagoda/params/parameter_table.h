#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace pagoda {

/// A tensor of a model, by name.
struct NamedTensor {
  std::string name;   ///< as in the model's state dict
  at::Tensor tensor;  ///< the model's own: it shares its memory
};

/// The tensors of a model, each once, in the order in which the model registered them.
///
/// A tensor that is registered under two names (tied weights) appears under the first. The entries
/// are handles: they stay valid while the model keeps its tensors, also when these get other
/// storage.
///
/// Threads: a value; reading the model must not happen while another thread changes it.
struct ParameterTable {
  std::vector<NamedTensor> trainable;  ///< parameters that require a gradient
  std::vector<NamedTensor> frozen;     ///< parameters that do not
  std::vector<NamedTensor> buffers;    ///< state that is not learnt by gradients, as in BatchNorm
};

/// Fails: UsageError when two different trainable parameters overlap in memory, because a parallel
/// update would then write the same numbers twice; tie weights by registering one tensor twice.
ParameterTable table_of(const torch::nn::Module& module);

/// Fails: UsageError that names the first tensor in which `other` differs from `first` in name,
/// shape, type or need of a gradient. `who` says whose table `other` is.
void check_same_layout(const ParameterTable& first, const ParameterTable& other,
                       const std::string& who);

/// Elements of all tensors together.
std::int64_t element_count(const std::vector<NamedTensor>& tensors);

}  // namespace pagoda
