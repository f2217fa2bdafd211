#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// Exceptions for some parameters, chosen by name. A field that a rule leaves unset changes
/// nothing; if several rules match a parameter, later ones override earlier ones.
///
/// Example:
///     StepOptions{.parameter_rules = {{.names = "*.bias", .weight_decay = 0},
///                                     {.names = "backbone.*", .frozen = true},
///                                     {.names = "head.*", .rate_factor = 10}}}
struct ParameterRule {
  /// Pattern for the whole name of a parameter: `*` stands for any characters, including dots, and
  /// `?` for any single one. At least one parameter must match.
  std::string names = {};
  /// Factor on the learning rate, whatever the schedule.
  std::optional<double> rate_factor = std::nullopt;
  /// Replaces the optimizer's own weight decay, whatever StepOptions::decay_scope says; only for
  /// optimizers that have one, such as AdamW.
  std::optional<double> weight_decay = std::nullopt;
  /// Replaces StepOptions::l2, whatever StepOptions::decay_scope says.
  std::optional<double> l2 = std::nullopt;
  /// Whether the parameter is frozen: no gradient is computed, and it and its optimizer state stay
  /// as they are.
  std::optional<bool> frozen = std::nullopt;
};

/// Whether the pattern of a rule matches the whole name.
bool matches(const std::string& pattern, const std::string& name);

/// Fails: UsageError for a number that is out of range, or for a pattern that matches none of the
/// names; the message lists the nearest ones.
void check(const std::vector<ParameterRule>& rules, const std::vector<std::string>& names);

/// What applies to one parameter once all rules are applied.
struct ParameterSettings {
  double rate_factor = 1;   ///< factor on the learning rate
  double weight_decay = 0;  ///< for an optimizer that has one
  double l2 = 0;            ///< as UpdateOptions::l2
  bool frozen = false;      ///< whether it is left as it is
};

/// The settings after the rules that match the name.
ParameterSettings with_rules(ParameterSettings settings, const std::vector<ParameterRule>& rules,
                             const std::string& name);

}  // namespace pagoda
