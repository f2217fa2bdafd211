#include "run/stored_run.h"

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/cli/config_file.h>

#include <cstdio>
#include <map>

#include "run/int8_tensors.h"

namespace pagoda::app {
namespace {

Checkpoint chosen_checkpoint(const StoredRunFlags& flags) {
  const CheckpointStore store = open_checkpoints(flags.run);
  const auto report = [](const std::string& line) {
    std::fprintf(stderr, "pagoda: %s\n", line.c_str());
  };
  auto found = flags.best ? store.load_best(report) : store.load_newest(report);
  if (!found && flags.best)
    throw UsageError(
        flags.run +
        " has no best checkpoint, because no validation has fallen due; leave out --best, "
        "or train with a smaller --valid-every");
  if (!found) throw DataError(flags.run + " has no checkpoint yet");
  return *std::move(found);
}

}  // namespace

void add_stored_run_flags(CLI::App& command, StoredRunFlags& flags) {
  command.add_option("RUN", flags.run, "directory of the run")->required();
  CLI::Option* raw =
      command.add_flag("--raw", flags.raw, "the weights themselves, not their moving average");
  CLI::Option* ema =
      command.add_flag("--ema", flags.ema, "the moving average (default where there is one)")
          ->excludes(raw);
  CLI::Option* best =
      command.add_flag("--best", flags.best, "of the best checkpoint instead of the newest");
  command
      .add_option("--weights", flags.weights,
                  "the weights of this file instead, .safetensors or .pt (default: the run's)")
      ->excludes(raw)
      ->excludes(ema)
      ->excludes(best);
}

CheckpointStore open_checkpoints(const std::string& run) {
  const std::filesystem::path directory = std::filesystem::path(run) / "checkpoints";
  if (std::error_code ignored; !std::filesystem::is_directory(directory, ignored))
    throw UsageError(run + " holds no run: it has no directory 'checkpoints'");
  return CheckpointStore(directory);
}

std::string StoredRun::weights_text() const {
  if (!file.empty()) return "weights of " + file;
  return std::string(averaged ? "averaged" : "raw") + " weights after step " +
         std::to_string(checkpoint.state.step);
}

std::string StoredRun::model() const {
  return config_value(checkpoint.config, "model").value_or("unknown");
}

Precision StoredRun::precision_on(const std::vector<Device>& devices) const {
  const Precision trained =
      precision_of(config_value(checkpoint.config, "precision").value_or("fp32"));
  return slow_precision_text(trained, devices).empty() ? trained : Precision::fp32;
}

StoredRun open_run(const StoredRunFlags& flags) {
  StoredRun run{.directory = flags.run, .checkpoint = chosen_checkpoint(flags), .weights = {}};
  if (flags.ema && run.checkpoint.average.empty()) {
    throw UsageError(flags.run + " was trained without a moving average; leave --ema out");
  }
  if (!flags.weights.empty()) {
    run.file = flags.weights;
    run.weights = widened_tensors(read_weights(flags.weights).tensors);
    return run;
  }
  run.averaged = !flags.raw && !run.checkpoint.average.empty();
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, tensor] : run.checkpoint.model) weights[name] = tensor;
  if (run.averaged) {
    for (const auto& [name, tensor] : run.checkpoint.average) weights[name] = tensor;
  }
  for (const auto& [name, tensor] : weights) run.weights.push_back({name, tensor});
  return run;
}

void expect_model(const StoredRun& run, const std::string& model) {
  if (run.model() != model) {
    throw UsageError(run.directory + " is a run of the model '" + run.model() +
                     "'; this command takes " + model);
  }
}

void load_weights(const StoredRun& run, TowerGroup& towers) {
  const auto wanted = state_dict(towers.module(0));
  if (const std::string list = differences(wanted, run.weights); !list.empty()) {
    throw DataError((run.file.empty() ? run.directory : run.file) +
                    " holds the weights of another model:" + list);
  }
  assign(wanted, run.weights);
  adopt_first(towers);
}

}  // namespace pagoda::app
