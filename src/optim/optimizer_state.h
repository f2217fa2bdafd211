#pragma once

#include <pagoda/optim/state_array.h>
#include <pagoda/optim/updater.h>
#include <pagoda/params/parameter_table.h>

#include <cstdint>
#include <vector>

#include "params/block_plan.h"

namespace pagoda {

/// What an updater keeps for some of the parameters' elements, beside them on their device: the
/// optimizer's tensors, the moving average, how often each parameter was updated.
///
/// Threads: count_update, write_to and load on one thread; the tensors' elements belong to whoever
/// updates the parameter's.
class OptimizerState {
 public:
  /// For the elements `ranges[i]` of parameter i.
  OptimizerState(const std::vector<NamedTensor>& parameters, std::vector<StateArray> arrays,
                 const UpdateOptions& options, std::vector<ElementRange> ranges);

  /// Counts an update of the parameter, and returns its number from 1.
  std::int64_t count_update(std::size_t parameter);

  const ElementRange& range(std::size_t parameter) const { return ranges_[parameter]; }

  /// Tensors for each parameter: vectors of the elements in its range.
  std::size_t slots() const { return arrays_.size(); }
  const at::Tensor& tensor(std::size_t parameter, std::size_t slot) const {
    return tensors_[parameter * slots() + slot];
  }

  bool has_averages() const { return !averages_.empty(); }
  const at::Tensor& average(std::size_t parameter) const { return averages_[parameter]; }

  /// Room for all elements of all parameters, filled with zeros.
  UpdaterState room() const;

  /// Fills in the elements that are kept here, or takes them over.
  void write_to(const UpdaterState& whole) const;
  void load(const UpdaterState& whole);

 private:
  template <class Visit>
  void each_part(const UpdaterState& whole, Visit visit) const;

  const std::vector<NamedTensor> parameters_;
  const std::vector<StateArray> arrays_;
  const std::vector<ElementRange> ranges_;
  std::vector<at::Tensor> tensors_;
  std::vector<at::Tensor> averages_;
  at::Tensor updates_;  // one 64-bit count for each parameter, in CPU memory
};

}  // namespace pagoda
