#include <pagoda/base/number_text.h>
#include <pagoda/base/toml.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "run/run_option_table.h"
#include "run/shared_plan.h"

namespace pagoda {
namespace {

std::string quoted(const std::string& text) { return toml_text(text); }

std::string toml(const std::string& text) { return text.empty() ? "" : quoted(text); }
std::string toml(bool is_on) { return is_on ? "true" : "false"; }
std::string toml(double number) { return number_text(number); }
template <std::integral T>
std::string toml(T number) {
  return std::to_string(number);
}
template <class T>
std::string toml(const std::optional<T>& value) {
  return value ? toml(*value) : "";
}

/// Writes down those options whose names are wanted.
class ConfigLines {
 public:
  explicit ConfigLines(std::function<bool(const std::string& name)> is_wanted)
      : is_wanted_(std::move(is_wanted)) {}

  const std::string& text() const { return text_; }

  void group(const char* /*title*/) {}
  template <class T>
  void option(const char* name, const T& value, const std::string& /*about*/) {
    add(name, toml(value));
  }
  template <class T>
  void count(const char* name, const T& value, const std::string& about) {
    option(name, value, about);
  }
  template <class T>
  void count_or_none(const char* name, const T& value, const std::string& about) {
    option(name, value, about);
  }
  template <class T>
  void seconds(const char* name, const T& value, const std::string& about) {
    if (value) option(name, value->count(), about);
  }
  template <class T>
  void whole(const char* name, const T& value, std::uint64_t, std::uint64_t,
             const std::string& about) {
    option(name, value, about);
  }
  template <class T, std::size_t N>
  void word(const char* name, const T& value, const OptionWord<T> (&words)[N],
            const std::string& /*about*/) {
    add(name, quoted(word_of(words, value)));
  }
  template <class T, class Read, class Write>
  void text(const char* name, const T& value, Read, Write write, const std::string& /*about*/) {
    add(name, toml(write(value)));
  }
  template <class T, class Read, class Write>
  void each(const char* name, const std::vector<T>& values, Read, Write write,
            const std::string& /*about*/) {
    std::vector<TomlValue> texts;
    for (const T& value : values) texts.emplace_back(write(value));
    // One stands for itself, as on the command line.
    if (!texts.empty()) add(name, toml_text(texts.size() == 1 ? texts.front() : TomlValue(texts)));
  }
  void flag(const char* name, bool value, const std::string& about) { option(name, value, about); }
  void excludes(const char*, const char*) {}

 private:
  /// An option without a value has no line.
  void add(std::string name, const std::string& value) {
    name = name.substr(2, name.find(',') - 2);  // "--lr,--learning-rate" is lr
    if (!value.empty() && is_wanted_(name)) text_ += name + " = " + value + "\n";
  }

  const std::function<bool(const std::string& name)> is_wanted_;
  std::string text_;
};

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string lines_of(RunOptions options, std::function<bool(const std::string& name)> is_wanted) {
  ConfigLines lines(std::move(is_wanted));
  list_run_options(lines, options);
  return lines.text();
}

}  // namespace

std::string config_text(const RunOptions& options) {
  return "model = " + quoted(options.name) + "\n" +
         lines_of(options, [](const auto& name) { return !is_among(changeable_options(), name); });
}

std::string shared_plan_text(const RunOptions& options) {
  static const std::vector<std::string> kWhen = {"epochs",      "max-steps",  "early-stopping",
                                                 "valid-every", "save-every", "dry-run"};
  const bool is_spread = options.parameters == ParameterPlacement::spread;
  return lines_of(options, [](const auto& name) { return is_among(kWhen, name); }) +
         "parameters spread = " + toml(is_spread) + "\n";
}

const std::vector<std::string>& changeable_options() {
  static const std::vector<std::string> names = {"devices",
                                                 "cores-per-tower",
                                                 "pin",
                                                 "memory-fraction",
                                                 "memory-limit",
                                                 "memory-growth",
                                                 "soft-placement",
                                                 "parameters",
                                                 "stages",
                                                 "stage-layers",
                                                 "output-layer",
                                                 "pipeline-schedule",
                                                 "checkpoint-activations",
                                                 "rank",
                                                 "world-size",
                                                 "master",
                                                 "join-timeout",
                                                 "step-timeout",
                                                 "loader-threads",
                                                 "epochs",
                                                 "max-steps",
                                                 "max-time",
                                                 "early-stopping",
                                                 "valid-every",
                                                 "dry-run",
                                                 "out",
                                                 "save-every",
                                                 "keep-last",
                                                 "overwrite",
                                                 "trace",
                                                 "trace-steps",
                                                 "histograms",
                                                 "log-placement",
                                                 "log-every",
                                                 "log-format",
                                                 "json",
                                                 "config",
                                                 "preset",
                                                 "dump-config"};
  return names;
}

}  // namespace pagoda
