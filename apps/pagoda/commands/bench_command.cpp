#include "bench/bench_report.h"
#include "commands/bench_pipeline_command.h"
#include "commands/bench_run_command.h"
#include "commands/commands.h"
#include "registry/known_models.h"

namespace pagoda::app {
namespace {

/// Adds `pagoda bench MODEL`.
void add_model_bench(CLI::App& bench_command, Action& action, const KnownModel& model) {
  CLI::App* command = bench_command.add_subcommand(
      model.name, model.about + "; on 1 to all towers, beside the limit and threads");
  const std::shared_ptr<ModelMeasuring> measuring = model.measuring();
  const BenchLength length = measuring->bench_length();
  const auto flags = std::make_shared<BenchFlags>(
      BenchFlags{.bench = {.steps = length.steps}, .rounds = length.rounds});
  add_bench_flags(*command, *flags);
  measuring->add_flags(*command);
  command->callback([&model, measuring, flags, &action] {
    action = [&model, measuring, flags] { return run_bench({model, *measuring}, *flags); };
  });
}

}  // namespace

void add_bench_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("bench", "Measure how fast this machine trains");
  command->require_subcommand(1);
  for (const KnownModel& model : known_models()) {
    if (model.measuring) add_model_bench(*command, action, model);
  }
  add_bench_run_command(*command, action);
  add_bench_pipeline_command(*command, action);
}

}  // namespace pagoda::app
