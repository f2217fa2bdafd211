#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// What is different for some parameters, chosen by name. What a rule leaves unset stays as it is;
/// where several rules match a parameter, a later one overrides an earlier one.
///
/// Example:
///     StepOptions{.parameter_rules = {{.names = "*.bias", .weight_decay = 0},
///                                     {.names = "backbone.*", .frozen = true},
///                                     {.names = "head.*", .rate_factor = 10}}}
struct ParameterRule {
  /// The whole name of a parameter, in which `*` stands for any characters, dots too, and `?` for
  /// one of them. At least one parameter must match.
  std::string names = {};
  /// What the learning rate is multiplied by, schedule included.
  std::optional<double> rate_factor = std::nullopt;
  /// Instead of the optimizer's own, whatever StepOptions::decay_scope says; for optimizers that
  /// have one, as AdamW.
  std::optional<double> weight_decay = std::nullopt;
  /// Instead of StepOptions::l2, whatever StepOptions::decay_scope says.
  std::optional<double> l2 = std::nullopt;
  /// Not trained: no gradient is computed, and parameter and optimizer state stay as they are.
  std::optional<bool> frozen = std::nullopt;
};

/// Whether the whole name fits the pattern of a rule.
bool matches(const std::string& pattern, const std::string& name);

/// Fails: UsageError for a number that is out of range, or for a pattern that fits none of the
/// names; it lists those that come near.
void check(const std::vector<ParameterRule>& rules, const std::vector<std::string>& names);

/// What holds for one parameter when all rules are applied.
struct ParameterSettings {
  double rate_factor = 1;   ///< what the learning rate is multiplied by
  double weight_decay = 0;  ///< of an optimizer that has one
  double l2 = 0;            ///< penalty on its square, as part of the loss
  bool frozen = false;      ///< whether it is left as it is
};

/// Applies the rules that match the name.
ParameterSettings with_rules(ParameterSettings settings, const std::vector<ParameterRule>& rules,
                             const std::string& name);

}  // namespace pagoda
