#include <pagoda/base/json.h>
#include <pagoda/cli/run_flags.h>

#include <cstdio>

#include "commands/commands.h"
#include "commands/test_flags.h"
#include "registry/known_models.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

struct EvalFlags {
  StoredRunFlags run;
  DeviceChoice devices;
  TestFlags test;
  bool json = false;
};

void print_json(const StoredRun& run, const TestReport& report) {
  JsonWriter json;
  json.begin_object().key("step").value(run.checkpoint.state.step);
  json.key("weights");
  run.file.empty() ? json.value(run.averaged ? "averaged" : "raw") : json.value(run.file);
  report.members(json);
  json.end_object();
  std::puts(json.text().c_str());
}

int eval(const EvalFlags& flags) {
  const StoredRun run = open_run(flags.run);
  const auto training = model_of(run).training();
  take_flags_of(run, *training);
  flags.test.hand_to(*training, run);
  const WarnedDevices devices(flags.devices);
  const TestReport report = training->test(run, devices.list());
  if (flags.json) {
    print_json(run, report);
  } else {
    std::printf("%s: %s\n", run.weights_text().c_str(), report.text.c_str());
  }
  return 0;
}

}  // namespace

void add_eval_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = program.add_subcommand(
      "eval", "Test a run's weights: accuracy by class, or perplexity, BLEU and translations");
  add_stored_run_flags(*command, flags->run);
  command->add_flag("--json", flags->json, "print a JSON object instead of text");
  for (const KnownModel& model : known_models()) {
    if (model.training) flags->test.add(*command, model);
  }
  add_device_flags(*command, flags->devices);
  command->callback([flags, &action] { action = [flags] { return eval(*flags); }; });
}

}  // namespace pagoda::app
