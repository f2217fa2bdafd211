#include <pagoda/base/json.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/run/process_failure.h>

#include <cstdio>
#include <memory>

#include "commands/commands.h"
#include "commands/test_flags.h"
#include "registry/known_models.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

struct EvalFlags {
  StoredRunFlags run;
  DeviceChoice devices;
  WorldChoice processes;
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

/// Fails: UsageError at every process when one reads other weights than rank 0.
void expect_same_weights(World& world, const StoredRun& run) {
  const std::vector<std::string> all = world.gather(run.model() + ", " + run.weights_text());
  for (int rank = 1; rank < world.size(); ++rank) {
    const std::string& other = all[static_cast<std::size_t>(rank)];
    if (other == all[0]) continue;
    throw UsageError(world.name(rank) + " tests another run than " + world.name(0) + ": " + other +
                     " instead of " + all[0] + "; all processes must read the same directory");
  }
}

int test_run(const EvalFlags& flags, World* world) {
  const StoredRun run = open_run(flags.run);
  if (world != nullptr) expect_same_weights(*world, run);
  const auto training = model_of(run).training();
  take_flags_of(run, *training);
  flags.test.hand_to(*training, run);
  const WarnedDevices devices(flags.devices);
  const TestReport report = training->test(run, devices.list(), world);
  if (world != nullptr && world->rank() > 0) return 0;
  if (flags.json) {
    print_json(run, report);
  } else {
    std::printf("%s: %s\n", run.weights_text().c_str(), report.text.c_str());
  }
  return 0;
}

int eval(EvalFlags flags) {
  const std::shared_ptr<World> world = join_world(flags.processes, flags.devices);
  return named_failures(world.get(), [&] { return test_run(flags, world.get()); });
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
  add_process_flags(*command, flags->processes);
  command->callback([flags, &action] { action = [flags] { return eval(*flags); }; });
}

}  // namespace pagoda::app
