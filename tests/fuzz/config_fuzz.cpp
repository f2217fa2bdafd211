#include <pagoda/base/error.h>
#include <pagoda/cli/config_file.h>
#include <pagoda/cli/flag_adder.h>

#include <optional>

#include "seq2seq/seq2seq_presets.h"
#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace config_fuzz {

/// A command with an option of every kind that the program has.
struct Command {
  Command() {
    FlagAdder add(app, "All");
    CLI::Option* epochs = add.count("--epochs", this->epochs, "a count");
    add.count("--max-steps", max_steps, "unset at first")->excludes(epochs);
    add.option("--lr", rate, "a number");
    add.option("--seed", seed, "a large number")->check(any_whole_number());
    add.option("--max-time", max_time, "a time")->check(positive_seconds());
    add.word("--optimizer", optimizer, {"sgd", "adam"}, "a word");
    add.option("--out", out, "a text");
    add.list("--pairs", pairs, "a list");
    add.flag("--bidirectional", bidirectional, "a switch");
    app.parse("");
  }

  CLI::App app{"a command", "train"};
  std::int64_t epochs = 5;
  std::optional<std::int64_t> max_steps;
  double rate = 0.5;
  std::uint64_t seed = 1;
  std::optional<double> max_time;
  std::string optimizer = "adam";
  std::string out;
  std::vector<std::string> pairs;
  bool bidirectional = false;
};

/// The name of a preset (or nothing) and a configuration file, a line "%%" between them.
std::string read(std::string_view bytes) {
  const auto parts = parts_of(bytes, 2);
  Command command;
  apply_config_file(command.app, input_file(parts[1]));
  const std::string name(parts[0].substr(0, parts[0].find('\n')));
  if (!name.empty()) {
    const Preset& preset = find_preset(app::seq2seq_presets(), name);
    try {
      apply_below(command.app, preset.toml, name);
    } catch (const UsageError&) {
      // it has options that this command lacks
    }
  }
  const std::string text = config_file_text(command.app, {});
  Command again;
  apply_config(again.app, text, "again");
  require(config_text(again.app) == config_text(command.app),
          "a configuration is another one when written");
  config_value(text, "out");
  return text;
}

const Registration registration{{"config", &read}};

}  // namespace config_fuzz
}  // namespace pagoda::fuzz
