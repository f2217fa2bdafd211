#pragma once

#include <pagoda/optim/optimizer_options.h>
#include <pagoda/optim/state_array.h>
#include <pagoda/params/parameter_table.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optim/update_kernels.h"

namespace pagoda {

/// What an update has to know of any optimizer besides its formula.
struct OptimizerTraits {
  std::string name;
  LearningRate learning_rate;
  std::vector<StateArray> state = {};
  std::optional<double> weight_decay = std::nullopt;  // unset: it has none of its own
  bool rests_without_gradient = false;  // a parameter whose gradient is zero stays as it is
};

OptimizerTraits traits_of(const OptimizerOptions& optimizer);

/// What holds for each parameter: the options and then their rules.
/// Fails: UsageError for a rule about a weight decay that the optimizer does not have.
std::vector<ParameterSettings> settings_of(const std::vector<NamedTensor>& parameters,
                                           const UpdateOptions& options,
                                           const OptimizerTraits& optimizer);

/// The numbers that one update of one parameter has.
struct ParameterTurn {
  bool used = false;         // the parameter has a gradient
  std::int64_t update = 0;   // of this parameter, from 1
  double learning_rate = 0;  // with its own factor
  double weight_decay = 0;
};

/// The scalars of a built-in optimizer's update.
UpdateStep step_of(const OptimizerOptions& optimizer, const ParameterTurn& turn);

/// Fails: UsageError that names the field when a parameter's type cannot hold an option: a rate
/// that is infinite there, or an epsilon that is 0.
void check_range(const OptimizerOptions& optimizer, const std::vector<NamedTensor>& parameters);
void check_rate_range(const ParameterTurn& turn, const NamedTensor& parameter);

}  // namespace pagoda
