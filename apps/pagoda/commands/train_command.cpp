#include <pagoda/base/json.h>

#include <cstdio>
#include <functional>
#include <span>

#include "bench/choice.h"
#include "commands/commands.h"
#include "flags/config_file.h"
#include "flags/presets.h"
#include "flags/train_flags.h"
#include "image/lenet5_training.h"
#include "terminal/text_table.h"
#include "text/seq2seq_training.h"

namespace pagoda::app {
namespace {

void print_summary(const TrainFlags& flags, const TrainingSummary& summary) {
  if (flags.json) {
    JsonWriter json;
    json.begin_object()
        .key("end")
        .value(summary.end)
        .key("towers")
        .value(std::int64_t{summary.towers});
    json.key("steps").value(summary.steps).key("skipped_steps").value(summary.skipped);
    json.key(summary.unit).value(summary.samples).key("seconds").value(summary.seconds);
    json.key(summary.unit + "_per_second").value(summary.samples_per_second());
    json.key("data_wait_seconds").value(summary.waited);
    json.key("checkpoint_stall_seconds").value(summary.stalled).key("loss").value(summary.loss);
    if (summary.test) {
      json.key("test_loss").value(summary.test->loss);
      for (const auto& [name, value] : summary.test->metrics) json.key("test_" + name).value(value);
    }
    std::vector<std::int64_t> in_use;
    std::vector<std::int64_t> peak;
    for (const MemoryUse& use : summary.memory) {
      in_use.push_back(use.in_use);
      peak.push_back(use.peak);
    }
    json.key("memory_bytes").values(in_use).key("memory_peak_bytes").values(peak);
    json.end_object();
    std::puts(json.text().c_str());
    return;
  }
  std::printf("%s: %s, %s, %s %s in %.1f s, %s %s/s", summary.end,
              counted(summary.towers, "tower").c_str(), counted(summary.steps, "step").c_str(),
              grouped(summary.samples).c_str(), summary.unit.c_str(), summary.seconds,
              grouped(summary.samples_per_second()).c_str(), summary.unit.c_str());
  if (summary.test) {
    std::printf("; test loss %.4f", summary.test->loss);
    for (const auto& [name, value] : summary.test->metrics)
      std::printf(", test %s %.4f", name.c_str(), value);
  }
  std::printf("; %s\n", memory_text(summary.devices, summary.memory).c_str());
}

/// `--devices auto`: what `pagoda bench` has chosen, where nothing else says otherwise.
void apply_choice(CLI::App& command, DeviceFlags& flags) {
  const StoredChoice choice = stored_choice(command.get_name());
  apply_below(command, choice.options, choice.file);
  flags.devices = choice.devices;
}

/// Fills in what the command line left unset, from the file, then from the preset, then from what
/// was chosen.
void apply_configs(CLI::App& command, TrainFlags& flags, std::span<const Preset> presets,
                   const std::string& preset) {
  if (!flags.config.empty()) apply_config_file(command, flags.config);
  if (!preset.empty()) apply_below(command, find_preset(presets, preset).toml, "preset " + preset);
  if (flags.devices.devices == kChosenDevices) apply_choice(command, flags.devices);
}

/// Trains, or prints the configuration if that was asked for.
int run_training(CLI::App& command, const TrainFlags& flags,
                 const std::function<TrainingSummary(const std::string& config)>& train) {
  if (flags.dump_config) {
    std::fputs(config_file_text(command, {"config", "preset", "dump-config"}).c_str(), stdout);
    return 0;
  }
  const std::string config =
      "model = \"" + command.get_name() + "\"\n" + config_text(command, changeable_options());
  const TrainingSummary summary = train(config);
  print_summary(flags, summary);
  return summary.exit_code;
}

void add_preset_flag(CLI::App& command, std::string& preset, std::span<const Preset> presets) {
  command
      .add_option("--preset", preset,
                  "options that go well together (default: none); " + preset_list(presets))
      ->group("Model");
}

struct LeNet5Command {
  TrainFlags train;
  LeNet5Flags lenet5;
  std::string preset;
};

void add_lenet5_command(CLI::App& command, Run& run) {
  auto flags = std::make_shared<LeNet5Command>();
  CLI::App* lenet5 = command.add_subcommand("lenet5", "LeNet-5 on 32x32 colour images");
  add_preset_flag(*lenet5, flags->preset, lenet5_presets());
  add_lenet5_flags(*lenet5, flags->lenet5);
  add_train_flags(*lenet5, flags->train);
  lenet5->callback([flags, lenet5, &run] {
    run = [flags, lenet5] {
      apply_configs(*lenet5, flags->train, lenet5_presets(), flags->preset);
      return run_training(*lenet5, flags->train, [&](const std::string& config) {
        return train_lenet5(flags->train, flags->lenet5, config);
      });
    };
  });
}

void add_seq2seq_command(CLI::App& command, Run& run) {
  auto flags = std::make_shared<Seq2SeqCommand>();
  CLI::App* seq2seq = command.add_subcommand(
      "seq2seq", "Encoder and decoder with attention: translation, dialogue");
  auto preset = std::make_shared<std::string>();
  add_preset_flag(*seq2seq, *preset, seq2seq_presets());
  add_seq2seq_command_flags(*seq2seq, *flags);
  seq2seq->callback([flags, preset, seq2seq, &run] {
    run = [flags, preset, seq2seq] {
      apply_configs(*seq2seq, flags->train, seq2seq_presets(), *preset);
      return run_training(*seq2seq, flags->train, [&](const std::string& config) {
        return train_seq2seq(flags->train, flags->text, flags->network, config);
      });
    };
  });
}

}  // namespace

void add_train_command(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("train", "Train a model on all devices");
  command->require_subcommand(1);
  add_lenet5_command(*command, run);
  add_seq2seq_command(*command, run);
}

}  // namespace pagoda::app
