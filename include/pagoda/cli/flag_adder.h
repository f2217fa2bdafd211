#pragma once

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/cli/number_checks.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda {

/// Adds flags to one group of a command's help, each for a field whose current value is the default
/// that --help shows. The fields must live as long as the command.
///
/// Example:
///     FlagAdder add(command, "Spiral");
///     add.count("--arms", spiral.arms, "arms of the spiral");
class FlagAdder {
 public:
  /// Adds flags to this group of the help.
  explicit FlagAdder(CLI::App& command, std::string group)
      : command_(command), group_(std::move(group)) {}

  /// Adds flags to the command's default group, next to --help.
  explicit FlagAdder(CLI::App& command)
      : FlagAdder(command, command.option_defaults()->get_group()) {}

  /// Sets the group of the flags that follow.
  void group(std::string title) { group_ = std::move(title); }

  /// An option that sets `value`; its current value is the default that --help shows.
  template <class T>
  CLI::Option* option(const char* name, T& value, const std::string& about) {
    CLI::Option* option = command_.add_option(name, value, about)->group(group_);
    if constexpr (std::is_same_v<T, double>) {
      option->default_str(number_text(value));  // CLI11 would write six digits
    } else {
      option->capture_default_str();
    }
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
      option->check(finite_number());
    return option;
  }
  /// The same for a seed: any unsigned 64-bit number.
  CLI::Option* option(const char* name, std::uint64_t& value, const std::string& about) {
    return option<std::uint64_t>(name, value, about)->check(any_whole_number());
  }

  /// An option that is a number of something: a whole number, at least 1.
  template <class T>
  CLI::Option* count(const char* name, T& value, const std::string& about) {
    return option<T>(name, value, about)->check(pagoda::count());
  }

  /// The same, where 0 means none.
  template <class T>
  CLI::Option* count_or_none(const char* name, T& value, const std::string& about) {
    return option<T>(name, value, about)->check(pagoda::count_or_none());
  }

  /// A whole number from `least` to `most`.
  template <class T>
  CLI::Option* whole(const char* name, T& value, std::uint64_t least, std::uint64_t most,
                     const std::string& about) {
    return option<T>(name, value, about)->check(whole_number(least, most));
  }

  /// A time in seconds, above 0.
  CLI::Option* seconds(const char* name, std::optional<std::chrono::duration<double>>& value,
                       const std::string& about) {
    return command_
        .add_option_function<double>(
            name, [&value](double seconds) { value = std::chrono::duration<double>(seconds); },
            about)
        ->check(positive_seconds())
        ->group(group_);
  }

  /// An option that is one of several words.
  template <class T>
  CLI::Option* word(const char* name, T& value, const std::vector<std::string>& words,
                    const std::string& about) {
    return option(name, value, about)->check(CLI::IsMember(words));
  }

  /// The same where each word stands for a value: the entries of `words` have the members `word`
  /// and `value`.
  template <class T, class Word, std::size_t N>
    requires std::is_class_v<Word>
  CLI::Option* word(const char* name, T& value, const Word (&words)[N], const std::string& about) {
    std::vector<std::string> names;
    std::string shown;
    for (const Word& entry : words) {
      names.emplace_back(entry.word);
      if (entry.value == value) shown = entry.word;
    }
    const auto take = [&value, &words](const std::string& text) {
      for (const Word& entry : words) {
        if (text == entry.word) value = entry.value;
      }
    };
    return command_.add_option_function<std::string>(name, take, about)
        ->default_str(shown)
        ->check(CLI::IsMember(names))
        ->group(group_);
  }

  /// An option with a notation of its own: `read(text)` returns the value or throws an Error, and
  /// `write(value)` returns the text of the default.
  template <class T, class Read, class Write>
  CLI::Option* text(const char* name, T& value, Read read, Write write, const std::string& about) {
    const auto take = [&value, read, name](const std::string& text) {
      try {
        value = read(text);
      } catch (const Error& error) {
        throw CLI::ValidationError(name, error.what());
      }
    };
    return command_.add_option_function<std::string>(name, take, about)
        ->default_str(write(value))
        ->group(group_);
  }

  /// An option that can be given several times; empty by default.
  CLI::Option* list(const char* name, std::vector<std::string>& values, const std::string& about) {
    return command_.add_option(name, values, about)->group(group_);
  }

  /// The same with a notation of its own, as for `text`; one value each time it is given.
  template <class T, class Read, class Write>
  CLI::Option* each(const char* name, std::vector<T>& values, Read read, Write write,
                    const std::string& about) {
    const auto take = [&values, read, name](const std::vector<std::string>& texts) {
      try {
        values.clear();
        for (const std::string& text : texts) values.push_back(read(text));
      } catch (const Error& error) {
        throw CLI::ValidationError(name, error.what());
      }
    };
    std::string shown;
    for (const T& value : values) shown += (shown.empty() ? "" : " ") + write(value);
    return command_.add_option_function<std::vector<std::string>>(name, take, about)
        ->default_str(shown)
        ->allow_extra_args(false)
        ->group(group_);
  }

  /// A switch that sets `value` to true.
  CLI::Option* flag(const char* name, bool& value, const std::string& about) {
    return command_.add_flag(name, value, about)->group(group_);
  }

  /// Makes two options exclude each other.
  void excludes(const char* name, const char* other) {
    command_.get_option(name)->excludes(command_.get_option(other));
  }

 private:
  CLI::App& command_;
  std::string group_;
};

}  // namespace pagoda
