#pragma once

#include <pagoda/base/number_text.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "flags/number_checks.h"

namespace pagoda::app {

/// Adds the flags of one group of a command's help, a field for each: the field's value is the
/// default that --help shows.
///
/// Example:
///     FlagAdder add(command, "Run");
///     add.count("--epochs", flags.epochs, "passes over the training data");
class FlagAdder {
 public:
  FlagAdder(CLI::App& command, std::string group) : command_(command), group_(std::move(group)) {}

  /// Without a group of their own the flags stand with --help.
  explicit FlagAdder(CLI::App& command)
      : FlagAdder(command, command.option_defaults()->get_group()) {}

  template <class T>
  CLI::Option* option(const char* name, T& value, const std::string& text) {
    CLI::Option* option = command_.add_option(name, value, text)->group(group_);
    if constexpr (std::is_same_v<T, double>) {
      option->default_str(number_text(value));  // CLI11 would write six digits
    } else {
      option->capture_default_str();
    }
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
      option->check(finite_number());
    return option;
  }

  /// One that is a number of something: from 1 on.
  template <class T>
  CLI::Option* count(const char* name, T& value, const std::string& text) {
    return option(name, value, text)->check(app::count());
  }

  /// One that is a word out of several.
  template <class T>
  CLI::Option* word(const char* name, T& value, const std::vector<std::string>& words,
                    const std::string& text) {
    return option(name, value, text)->check(CLI::IsMember(words));
  }

  /// One that can be given several times, and is none at first.
  CLI::Option* list(const char* name, std::vector<std::string>& values, const std::string& text) {
    return command_.add_option(name, values, text)->group(group_);
  }

  CLI::Option* flag(const char* name, bool& value, const std::string& text) {
    return command_.add_flag(name, value, text)->group(group_);
  }

 private:
  CLI::App& command_;
  const std::string group_;
};

}  // namespace pagoda::app
