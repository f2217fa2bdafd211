#include <pagoda/cli/run_command.h>

#include "bench/choice.h"
#include "commands/commands.h"
#include "flags/presets.h"
#include "image/lenet5_training.h"
#include "text/seq2seq_training.h"

namespace pagoda::app {
namespace {

/// `--devices auto`: what `pagoda bench` has chosen, where nothing else says otherwise.
void apply_choice(RunCommand& command, const std::string& model) {
  command.resolve();
  std::string& devices = command.options().devices.devices;
  if (devices != kChosenDevices) return;
  const StoredChoice choice = stored_choice(model);
  command.fill(choice.options, choice.file);
  devices = choice.devices;
}

/// Adds `pagoda train MODEL`. `train(options, flags)` trains with the model's own flags.
template <class Flags>
void add_model(CLI::App& train_command, Action& action, const char* about, RunOptions defaults,
               std::span<const Preset> presets, void (*add_flags)(CLI::App&, Flags&),
               RunSummary (*train)(const RunOptions&, const Flags&)) {
  CLI::App* app = train_command.add_subcommand(defaults.name, about);
  auto flags = std::make_shared<Flags>();
  add_flags(*app, *flags);
  auto command = std::make_shared<RunCommand>(*app, std::move(defaults), presets);
  CLI::Option* devices = app->get_option("--devices");
  devices->description(devices->get_description() + "; auto: what pagoda bench --choose found");
  app->callback([flags, command, train, &action] {
    action = [flags, command, train] {
      apply_choice(*command, command->options().name);
      return command->run([&](const RunOptions& options) { return train(options, *flags); });
    };
  });
}

}  // namespace

void add_train_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("train", "Train a model on all devices");
  command->require_subcommand(1);
  add_model(*command, action, "LeNet-5 on 32x32 colour images", {.name = "lenet5"},
            lenet5_presets(), add_lenet5_flags, train_lenet5);
  add_model(*command, action, "Encoder and decoder with attention: translation, dialogue",
            seq2seq_defaults(), seq2seq_presets(), add_seq2seq_flags, train_seq2seq);
}

}  // namespace pagoda::app
