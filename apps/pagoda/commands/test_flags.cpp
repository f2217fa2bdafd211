#include "commands/test_flags.h"

#include <pagoda/base/error.h>

namespace pagoda::app {
namespace {

/// A model's own test flags, on a command of their own.
class ModelFlags {
 public:
  explicit ModelFlags(ModelTraining& training) { training.add_test_flags(command); }

  std::vector<CLI::Option*> options() {
    return command.get_options(
        [&](const CLI::Option* option) { return option != command.get_help_ptr(); });
  }

  CLI::App command;
};

std::string names_of(const std::vector<CLI::Option*>& options) {
  std::string names;
  for (const CLI::Option* option : options)
    names += (names.empty() ? "" : ", ") + option->get_name();
  return names.empty() ? "none" : names;
}

}  // namespace

void TestFlags::add(CLI::App& command, const KnownModel& model) {
  const auto training = model.training();
  ModelFlags own(*training);
  for (const CLI::Option* option : own.options()) {
    const std::string name = option->get_name();
    if (CLI::Option* other = command.get_option_no_throw(name)) {
      other->description(other->get_description() + "; " + model.name + ": " +
                         option->get_description());
      continue;
    }
    command.add_option(name, given_[name], model.name + ": " + option->get_description())
        ->type_name(option->get_type_name())
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false)  // what follows is RUN
        ->group("What to test on");
  }
}

void TestFlags::hand_to(ModelTraining& training, const StoredRun& run) const {
  ModelFlags own(training);
  for (const auto& [name, values] : given_) {
    if (values.empty()) continue;
    CLI::Option* option = own.command.get_option_no_throw(name);
    if (option == nullptr) {
      throw UsageError(name + " does not apply to " + run.directory + ", a run of " + run.model() +
                       "; what applies: " + names_of(own.options()));
    }
    try {
      for (const auto& value : values) option->add_result(value);
      option->run_callback();
    } catch (const CLI::Error& error) {
      throw UsageError(error.what());
    }
  }
}

}  // namespace pagoda::app
