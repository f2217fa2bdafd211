#include "flags/train_flags.h"

#include <pagoda/base/error.h>

#include "flags/flag_adder.h"

namespace pagoda::app {
namespace {

void add_run_flags(CLI::App& command, TrainFlags& flags) {
  FlagAdder add(command, "Run");
  CLI::Option* batch_size =
      add.count("--batch-size", flags.batch_size, "samples for each tower and feed");
  add.count("--global-batch-size", flags.global_batch_size,
            "samples of all towers in one step, instead")
      ->excludes(batch_size);
  add.count("--accumulate", flags.accumulate, "feeds of each tower before an update");
  CLI::Option* epochs = add.count("--epochs", flags.epochs, "passes over the training data");
  add.count("--max-steps", flags.max_steps, "stop after so many steps, instead")->excludes(epochs);
  add.option("--max-time", flags.max_time,
             "seconds after which this call saves and ends (default: no limit)")
      ->check(positive_seconds());
  add.option("--overfit-batches", flags.overfit_batches,
             "train on the samples of so many steps only; 0 on all")
      ->check(count_or_none());
  add.word("--on-non-finite", flags.on_non_finite, {"stop", "skip"},
           "when a loss is not finite: stop, or skip the step");
  add.option("--seed", flags.seed, "of initial values, dropout, distortions and order")
      ->check(any_whole_number());
  add.option("--loader-threads", flags.loader_threads, "threads that make batches ahead")
      ->check(whole_number(1, 1024));
  add.option("--valid-every", flags.valid_every,
             "steps between two tests, or epochs with the suffix e; 0 tests at the end only");
  add.option("--early-stopping", flags.early_stopping,
             "stop after so many tests without a gain; 0 never")
      ->check(count_or_none());
  add.option("--lr-stall-factor", flags.lr_stall_factor,
             "multiply the learning rate by this when the test loss stalls; 1 does not");
  add.count("--lr-stall-tests", flags.lr_stall_tests,
            "tests in a row without a lower loss that count as a stall");
  add.flag("--dry-run", flags.dry_run, "one step of everything, nothing written");
}

void add_update_flags(CLI::App& command, TrainFlags& flags) {
  FlagAdder add(command, "Devices");
  add.word("--update", flags.update, {"sync", "async"},
           "sync: once for all towers; async: each tower as soon as its gradient is ready");
  add.option("--max-staleness", flags.max_staleness,
             "most updates between a tower's read of the parameters and its own, for async "
             "(default: no bound); 0 is sync")
      ->check(count_or_none());
}

void add_output_flags(CLI::App& command, TrainFlags& flags) {
  FlagAdder add(command, "Output");
  add.option("--out", flags.out,
             "directory of the run; the same command resumes it (default: none)");
  add.option("--save-every", flags.save_every,
             "steps between two checkpoints, or epochs with the suffix e; 0 saves at the end only");
  add.count("--keep-last", flags.keep_last, "checkpoints kept besides the best");
  add.flag("--overwrite", flags.overwrite, "start the run in --out anew");
  add.flag("--histograms", flags.histograms,
           "write histograms of the parameters for TensorBoard at every test");
  add.flag("--log-placement", flags.log_placement,
           "log each operator once, with the devices of what goes in and comes out; slower");
  add.count("--log-every", flags.log_every, "steps between two log lines");
  add.word("--log-format", flags.log_format, {"text", "json"}, "of the log lines on stderr");
  add.option("--trace", flags.trace,
             "file for a Chrome trace of --trace-steps (default: none), see chrome://tracing");
  add.option("--trace-steps", flags.trace_steps, "first and last step of the trace, from 1");
  add.flag("--json", flags.json, "print the summary on stdout as a JSON object");
  add.option("--config", flags.config,
             "TOML file with options (default: none); the command line goes first");
  add.flag("--dump-config", flags.dump_config, "print all options as TOML and do nothing else");
}

}  // namespace

std::optional<AsyncOptions> TrainFlags::async_options() const {
  if (update == "async" && pipeline.stages > 1)
    throw UsageError("towers of --stages " + std::to_string(pipeline.stages) +
                     " update together; leave out --stages or --update async");
  if (update == "async") return AsyncOptions{.max_staleness = max_staleness};
  if (max_staleness)
    throw UsageError("--max-staleness " + std::to_string(*max_staleness) +
                     " is for asynchronous updates; add --update async");
  return std::nullopt;
}

TowerOptions TrainFlags::tower_options() const {
  TowerOptions options{.seed = seed, .placement = chosen_placement(parameters)};
  if (!options.placement && async_options()) options.placement = ParameterPlacement::host;
  return options;
}

std::int64_t TrainFlags::feed_size(int towers) const {
  if (!global_batch_size) return pipeline.part_of(batch_size);
  const std::int64_t feeds = static_cast<std::int64_t>(towers) * accumulate;
  if (*global_batch_size % feeds != 0) {
    throw UsageError("a global batch of " + std::to_string(*global_batch_size) +
                     " samples cannot be divided by " + std::to_string(feeds) + " feeds (" +
                     std::to_string(towers) + " towers, " + std::to_string(accumulate) +
                     " feeds each); give a multiple of " + std::to_string(feeds));
  }
  return pipeline.part_of(*global_batch_size / feeds);
}

std::optional<StalledRate> TrainFlags::stalled_rate() const {
  if (lr_stall_factor == 1) return std::nullopt;
  const StalledRate rule{.factor = lr_stall_factor, .validations = lr_stall_tests};
  check(rule);
  return rule;
}

void add_train_flags(CLI::App& command, TrainFlags& flags) {
  add_run_flags(command, flags);
  add_output_flags(command, flags);
  add_device_flags(command, flags.devices);
  CLI::Option* devices = command.get_option("--devices");
  devices->description(devices->get_description() + "; auto: what pagoda bench --choose found");
  add_parameters_flag(command, flags.parameters);
  add_update_flags(command, flags);
  add_pipeline_flags(command, flags.pipeline);
  add_optimizer_flags(command, flags.optimizer);
}

std::vector<std::string> changeable_options() {
  std::vector<std::string> options = device_options();
  options.insert(options.end(), {"epochs",
                                 "max-steps",
                                 "max-time",
                                 "early-stopping",
                                 "loader-threads",
                                 "dry-run",
                                 "out",
                                 "save-every",
                                 "keep-last",
                                 "overwrite",
                                 "trace",
                                 "trace-steps",
                                 "histograms",
                                 "log-placement",
                                 "log-every",
                                 "log-format",
                                 "json",
                                 "config",
                                 "preset",
                                 "dump-config",
                                 "parameters",
                                 "stages",
                                 "stage-layers",
                                 "pipeline-schedule",
                                 "checkpoint-activations",
                                 "output-layer"});
  return options;
}

}  // namespace pagoda::app
