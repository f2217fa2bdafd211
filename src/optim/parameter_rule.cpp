#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/optim/parameter_rule.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pagoda {
namespace {

constexpr std::size_t kNearNames = 3;

void check_number(const ParameterRule& rule, const std::optional<double>& value, const char* what) {
  if (!value || (std::isfinite(*value) && *value >= 0)) return;
  throw UsageError("the " + std::string(what) + " of the rule for '" + rule.names + "' is " +
                   number_text(*value) + "; it must be finite and at least 0");
}

/// The fewest characters that have to be added, left out or replaced between the two; a star of the
/// pattern adds any number for nothing.
std::size_t distance(const std::string& pattern, const std::string& name) {
  std::vector<std::size_t> costs(name.size() + 1);  // of the pattern's beginning to each of name's
  std::iota(costs.begin(), costs.end(), std::size_t{0});
  for (const char want : pattern) {
    std::size_t diagonal = costs[0];
    if (want != '*') ++costs[0];
    for (std::size_t i = 1; i <= name.size(); ++i) {
      const std::size_t same = diagonal + (want == '?' || want == name[i - 1] ? 0 : 1);
      diagonal = costs[i];
      costs[i] = want == '*' ? std::min(costs[i], costs[i - 1])
                             : std::min({same, costs[i] + 1, costs[i - 1] + 1});
    }
  }
  return costs.back();
}

std::string near_names(const std::string& pattern, std::vector<std::string> names) {
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return distance(pattern, a) < distance(pattern, b);
  });
  std::string list;
  for (std::size_t i = 0; i < std::min(kNearNames, names.size()); ++i)
    list += (i == 0 ? "'" : ", '") + names[i] + "'";
  return list.empty() ? "the model has no parameters" : "near it are " + list;
}

}  // namespace

bool matches(const std::string& pattern, const std::string& name) {
  return distance(pattern, name) == 0;
}

void check(const std::vector<ParameterRule>& rules, const std::vector<std::string>& names) {
  for (const ParameterRule& rule : rules) {
    check_number(rule, rule.rate_factor, "rate factor");
    check_number(rule, rule.weight_decay, "weight decay");
    check_number(rule, rule.l2, "l2");
    const bool fits = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return matches(rule.names, name);
    });
    if (!fits) {
      throw UsageError("no parameter fits the rule for '" + rule.names + "'; " +
                       near_names(rule.names, names));
    }
  }
}

ParameterSettings with_rules(ParameterSettings settings, const std::vector<ParameterRule>& rules,
                             const std::string& name) {
  for (const ParameterRule& rule : rules) {
    if (!matches(rule.names, name)) continue;
    settings.rate_factor = rule.rate_factor.value_or(settings.rate_factor);
    settings.weight_decay = rule.weight_decay.value_or(settings.weight_decay);
    settings.l2 = rule.l2.value_or(settings.l2);
    settings.frozen = rule.frozen.value_or(settings.frozen);
  }
  return settings;
}

}  // namespace pagoda
