#include <pagoda/base/error.h>
#include <pagoda/cli/run_command.h>

#include "bench/choice_file.h"
#include "commands/commands.h"
#include "registry/known_models.h"

namespace pagoda::app {
namespace {

/// `--devices auto`: what `pagoda bench` has chosen, where nothing else says otherwise.
void apply_choice(RunCommand& command, const KnownModel& model) {
  command.resolve();
  std::string& devices = command.options().devices.devices;
  if (devices != kChosenDevices) return;
  if (!model.measuring) {
    throw UsageError("--devices " + std::string(kChosenDevices) +
                     " is for the models that pagoda bench measures, and " + model.name +
                     " is none of them; name the devices");
  }
  const auto place = chosen_place(command.options().processes);
  const StoredChoice choice =
      stored_choice({.model = model.name, .processes = place ? place->size : 1});
  command.fill(choice.options, choice.file);
  devices = choice.devices;
}

/// Adds `pagoda train MODEL`.
void add_model_training(CLI::App& train_command, Action& action, const KnownModel& model) {
  CLI::App* app = train_command.add_subcommand(model.name, model.about);
  const std::shared_ptr<ModelTraining> training = model.training();
  training->add_flags(*app);
  RunOptions defaults = training->defaults();
  defaults.name = model.name;
  const auto command = std::make_shared<RunCommand>(*app, std::move(defaults), training->presets());
  if (model.measuring) {
    CLI::Option* devices = app->get_option("--devices");
    devices->description(devices->get_description() + "; auto: what pagoda bench --choose found");
  }
  app->callback([training, command, model, &action] {
    action = [training, command, model] {
      apply_choice(*command, model);
      return command->run([&](const RunOptions& options) { return training->train(options); });
    };
  });
}

}  // namespace

void add_train_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("train", "Train a model on all devices");
  command->require_subcommand(1);
  for (const KnownModel& model : known_models()) {
    if (model.training) add_model_training(*command, action, model);
  }
}

}  // namespace pagoda::app
