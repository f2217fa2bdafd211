#include <pagoda/base/json.h>

#include <cstdio>

#include "commands.h"
#include "config_file.h"
#include "lenet5_training.h"
#include "presets.h"
#include "text_table.h"
#include "train_flags.h"

namespace pagoda::app {
namespace {

void print_summary(const TrainFlags& flags, const TrainingSummary& summary) {
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("end").value(summary.end).key("towers").value(summary.towers);
    json.key("steps").value(summary.steps).key("skipped_steps").value(summary.skipped);
    json.key("samples").value(summary.samples).key("seconds").value(summary.seconds);
    json.key("samples_per_second").value(summary.samples_per_second());
    json.key("data_wait_seconds").value(summary.waited);
    json.key("checkpoint_stall_seconds").value(summary.stalled).key("loss").value(summary.loss);
    if (summary.test) {
      json.key("test_loss").value(summary.test->loss);
      for (const auto& [name, value] : summary.test->metrics) json.key("test_" + name).value(value);
    }
    json.end_object();
    std::puts(json.text().c_str());
    return;
  }
  std::printf("%s: %s, %s, %s samples in %.1f s, %s samples/s", summary.end,
              counted(summary.towers, "tower").c_str(), counted(summary.steps, "step").c_str(),
              grouped(summary.samples).c_str(), summary.seconds,
              grouped(summary.samples_per_second()).c_str());
  if (summary.test) {
    std::printf("; test loss %.4f", summary.test->loss);
    for (const auto& [name, value] : summary.test->metrics)
      std::printf(", test %s %.4f", name.c_str(), value);
  }
  std::puts("");
}

struct LeNet5Command {
  TrainFlags train;
  LeNet5Flags lenet5;
  std::string preset;
};

int run_lenet5(CLI::App& command, LeNet5Command& all) {
  const TrainFlags& flags = all.train;
  if (!flags.config.empty()) apply_config_file(command, flags.config);
  if (!all.preset.empty()) {
    apply_config(command, find_preset(lenet5_presets(), all.preset).toml, "preset " + all.preset);
  }
  if (flags.dump_config) {
    std::fputs(config_text(command, {"config", "preset", "dump-config"}).c_str(), stdout);
    return 0;
  }
  const std::string config = "model = \"lenet5\"\n" + config_text(command, changeable_options());
  const TrainingSummary summary = train_lenet5(flags, all.lenet5, config);
  print_summary(flags, summary);
  return summary.exit_code;
}

}  // namespace

void add_train_command(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("train", "Train a model on all devices");
  command->require_subcommand(1);
  auto flags = std::make_shared<LeNet5Command>();
  CLI::App* lenet5 = command->add_subcommand("lenet5", "LeNet-5 on 32x32 colour images");
  lenet5
      ->add_option(
          "--preset", flags->preset,
          "options that go well together (default: none); " + preset_list(lenet5_presets()))
      ->group("Model");
  add_lenet5_flags(*lenet5, flags->lenet5);
  add_train_flags(*lenet5, flags->train);
  lenet5->callback(
      [flags, lenet5, &run] { run = [flags, lenet5] { return run_lenet5(*lenet5, *flags); }; });
}

}  // namespace pagoda::app
