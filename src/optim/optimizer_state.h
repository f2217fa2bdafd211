#pragma once

#include <pagoda/optim/optimizer_options.h>
#include <pagoda/params/parameter_table.h>

#include <cstdint>
#include <vector>

#include "optim/update_kernels.h"

namespace pagoda {

/// The tensors that a built-in optimizer keeps for each parameter, how often each parameter was
/// updated, and what its next step is.
///
/// Threads: next_step on one thread; the tensors' elements belong to whoever updates the
/// parameter's.
class OptimizerState {
 public:
  OptimizerState(const std::vector<NamedTensor>& parameters, const OptimizerOptions& optimizer);

  /// Counts an update of the parameter and returns its scalars.
  UpdateStep next_step(std::size_t parameter, double learning_rate, bool decays);

  /// Whether a parameter whose gradient is zero would stay as it is, with its state.
  bool rests_without_gradient() const;

  double learning_rate(std::int64_t update) const {
    return learning_rate_of(optimizer_).at(update);
  }

  /// Tensors for each parameter.
  std::size_t slots() const { return slot_names_.size(); }
  const at::Tensor& tensor(std::size_t parameter, std::size_t slot) const {
    return tensors_[parameter * slots() + slot];
  }

  /// All of it by name: "momentum/conv1.weight", …, and the counts as "updates".
  std::vector<NamedTensor> tensors() const;

 private:
  const OptimizerOptions optimizer_;
  std::vector<std::string> parameter_names_;
  std::vector<const char*> slot_names_;
  std::vector<at::Tensor> tensors_;
  at::Tensor updates_;  // one 64-bit count for each parameter
};

}  // namespace pagoda
