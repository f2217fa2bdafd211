#pragma once

#include <pagoda/base/byte_size.h>
#include <pagoda/run/run_options.h>

#include <string>
#include <vector>

#include "run/layer_list.h"
#include "run/option_words.h"
#include "run/rate_factor.h"

// All options of a run in the order of --help, each written once: its name, its field and what it
// is for. Two kinds of tables read them: FlagAdder, which makes flags of a command of them, and
// ConfigLines (run_config.cpp), which writes them down.
//
// A table has: group(title), then for the options of that group
//     option(name, field, about)                   a number, a text, or an optional one
//     count(name, field, about)                    a number of something, from 1 on
//     count_or_none(name, field, about)            the same, where 0 means none
//     seconds(name, field, about)                  a time above 0
//     whole(name, field, least, most, about)       a whole number in a range
//     word(name, field, words, about)              one of several words
//     text(name, field, read, write, about)        what has a notation of its own
//     each(name, field, read, write, about)        a list of these, one for each time it is given
//     flag(name, field, about)                     on where it is given
// and excludes(name, other) for two that cannot be given together.

namespace pagoda {

template <class Table>
void list_device_options(Table& add, DeviceChoice& choice) {
  add.group("Devices");
  add.option("--devices", choice.devices,
             "all, cpu, cuda, a number, sim:4 (four simulated cards), or a list such as "
             "cpu:0,cpu:1, cuda:0,1 or sim:0-3");
  add.option("--cores-per-tower", choice.options.cores_per_tower,
             "cores of each CPU tower (default: all cores, divided evenly)");
  add.word("--pin", choice.options.pin, kPins,
           "bind CPU towers to their cores; auto: unless a CPU quota gives the process less than "
           "its affinity mask has");
  add.option("--memory-fraction", choice.memory.fraction,
             "part of each device's memory that its tower may take, such as 0.7 (default: all)");
  add.text(
      "--memory-limit", choice.memory.limit_bytes,
      [](const std::string& size) { return std::optional<std::int64_t>(parse_bytes(size)); },
      [](const std::optional<std::int64_t>& bytes) {
        return bytes ? std::to_string(*bytes) : std::string();
      },
      "memory that each device's tower may take, such as 2GiB (default: all)");
  add.excludes("--memory-limit", "--memory-fraction");
  add.word("--memory-growth", choice.memory.growth, kOnOff,
           "on: take memory as it is needed; off: take it all at the start");
  add.word("--soft-placement", choice.soft_placement, kSoftPlacements,
           "on: what a device cannot do, or a device that is not there, goes to another one; "
           "off: an error");
}

template <class Table>
void list_placement_option(Table& add, std::optional<ParameterPlacement>& parameters) {
  add.group("Devices");
  add.word("--parameters", parameters, kPlacements,
           "where they live and are updated: one copy of all CPU towers, a copy on each device, "
           "the host, or a share on each device; auto: shared, or host with cards");
}

template <class Table>
void list_precision_options(Table& add, Precision& precision, MatmulPrecision& matmul) {
  add.group("Devices");
  add.word(
      "--precision", precision, kPrecisions,
      "what models compute in; parameters, gradients and optimizer state are fp32 in any case");
  add.word("--matmul", matmul, kMatmuls,
           "how exact cards multiply in fp32: high is TF32, medium bf16");
}

template <class Table>
void list_loss_scale_options(Table& add, LossScale& scale) {
  add.option("--loss-scale", scale.initial,
             "what the loss is multiplied by at first, with --precision fp16");
  add.count("--loss-scale-steps", scale.growth_steps,
            "steps without an overflow after which the loss scale is raised");
  add.option("--loss-scale-factor", scale.factor, "what it is raised by, or lowered by after one");
  add.option("--loss-scale-least", scale.least, "where lowering it ends");
  add.option("--loss-scale-most", scale.most, "where raising it ends");
}

template <class Table>
void list_optimizer_options(Table& add, OptimizerChoice& choice) {
  add.group("Optimizer");
  add.word("--optimizer", choice.optimizer, kOptimizers, "how parameters are updated");
  add.option("--lr,--learning-rate", choice.lr, "learning rate after the warm-up");
  add.word("--schedule", choice.schedule, kSchedules, "how the learning rate changes");
  add.option("--lr-decay", choice.lr_decay, "factor of the exponential and the step schedule");
  add.count("--lr-decay-steps", choice.lr_decay_steps,
            "steps to which that factor belongs (default: 64); length of cosine and line "
            "(default: the run's)");
  add.flag("--lr-staircase", choice.lr_staircase, "decay in whole factors only");
  add.count_or_none("--lr-warmup", choice.lr_warmup, "steps in which the rate rises from 0");
  add.option("--momentum", choice.momentum, "for momentum and nesterov");
  add.option("--beta1", choice.beta1, "decay of the gradient's mean, for adam and adamw");
  add.option("--beta2", choice.beta2, "decay of the mean of its square, for adam and adamw");
  add.option("--epsilon", choice.epsilon, "added to the denominator, for adam and adamw");
  add.option("--weight-decay", choice.weight_decay, "decoupled weight decay, for adamw");
  add.option("--l2", choice.l2, "L2 penalty on the weights, as part of the loss");
  add.option("--ema", choice.ema, "decay of the parameters' moving average; 0 keeps none");
  add.option("--max-grad-norm", choice.max_grad_norm,
             "clip the combined gradient to this norm; 0 does not");
  add.option("--max-tower-grad-norm", choice.max_tower_grad_norm,
             "clip each tower's gradient to this norm; 0 does not");
  add.each(
      "--freeze", choice.freeze, parse_names, [](const std::string& names) { return names; },
      "parameters that are not trained, by name: 'backbone.*'; may be given again (default: none)");
  add.each(
      "--lr-factor", choice.lr_factor, parse_rate_factor, rate_factor_text,
      "multiply the learning rate of some parameters: 'head.*=10'; may be given again (default: "
      "none)");
}

template <class Table>
void list_stage_options(Table& add, StageChoice& choice) {
  constexpr std::uint64_t kMostStages = 1024;
  add.group("Pipeline");
  add.whole("--stages", choice.cut.stages, 1, kMostStages,
            "parts that the model is cut into; so many devices are one tower");
  add.text("--stage-layers", choice.cut.layers_per_stage, parse_layers, layers_text,
           "layers of each stage, such as 2,2 (default: as even as it goes)");
  add.count("--micro-batches", choice.micro_batches,
            "parts of a tower's batch that are in flight (default: " +
                std::to_string(kMicroBatches) + " with stages, otherwise 1)");
  add.word(
      "--pipeline-schedule", choice.pipeline.schedule, kPipelineSchedules,
      "gpipe: all forward, then all backward; 1f1b: backward as soon as possible, less memory");
  add.flag("--checkpoint-activations", choice.pipeline.checkpoint_activations,
           "stages keep their inputs only and compute again: less memory, more work");
  add.word("--output-layer", choice.cut.output, kOutputPlaces,
           "where the last layer is: every-stage computes it for some of the micro-batches");
}

template <class Table>
void list_init_options(Table& add, RunOptions& options) {
  add.group("Run");
  add.option("--init-from", options.init_from,
             "file of weights that a new run begins with: .safetensors, or as "
             "torch.save(model.state_dict(), FILE) writes it (default: random ones)");
  add.flag("--init-partially", options.init_partially,
           "take what model and file both have, and leave the rest of both alone");
  add.option("--init-remove-prefix", options.init_remove_prefix,
             "take this off the file's names, such as module. (default: nothing)");
  add.option("--init-add-prefix", options.init_add_prefix,
             "put this before the file's names, such as backbone. (default: nothing)");
}

template <class Table>
void list_training_options(Table& add, RunOptions& options) {
  add.group("Run");
  add.count("--batch-size", options.batch_size, "samples for each tower and feed");
  add.count("--global-batch-size", options.global_batch_size,
            "samples of all towers in one step, instead");
  add.excludes("--global-batch-size", "--batch-size");
  add.count("--accumulate", options.accumulate, "feeds of each tower before an update");
  add.flag("--drop-last", options.drop_last,
           "leave out the rest of an epoch that does not fill all feeds of a step");
  add.count("--epochs", options.epochs, "passes over the training data");
  add.count("--max-steps", options.max_steps, "stop after so many steps, instead");
  add.excludes("--max-steps", "--epochs");
  add.seconds("--max-time", options.max_time,
              "seconds after which this call saves and ends (default: no limit)");
  add.count_or_none("--overfit-batches", options.overfit_batches,
                    "train on the samples of so many steps only; 0 on all");
  add.word("--on-non-finite", options.on_non_finite, kNonFinites,
           "when a loss is not finite: stop, or skip the step");
  list_loss_scale_options(add, options.loss_scale);
  add.option("--seed", options.seed, "of initial values, dropout, distortions and order");
  add.whole("--loader-threads", options.loader_threads, 1, 1024, "threads that make batches ahead");
  add.text(
      "--valid-every", options.valid_every, parse_interval, interval_text,
      "steps between two validations, or epochs with the suffix e; 0 validates at the end only");
  add.count_or_none("--early-stopping", options.early_stopping,
                    "stop after so many validations without a gain; 0 never");
  add.option("--lr-stall-factor", options.lr_stall_factor,
             "multiply the learning rate by this when the validation loss stalls; 1 does not");
  add.count("--lr-stall-tests", options.lr_stall_tests,
            "validations in a row without a lower loss that count as a stall");
  add.flag("--dry-run", options.dry_run, "one step of everything, nothing written");
}

template <class Table>
void list_output_options(Table& add, RunOptions& options) {
  add.group("Output");
  add.option("--out", options.out,
             "directory of the run; the same command resumes it (default: none)");
  add.text("--save-every", options.save_every, parse_interval, interval_text,
           "steps between two checkpoints, or epochs with the suffix e; 0 saves at the end only");
  add.count("--keep-last", options.keep_last, "checkpoints kept besides the best");
  add.flag("--overwrite", options.overwrite, "start the run in --out anew");
  add.flag("--histograms", options.histograms,
           "write histograms of the parameters for TensorBoard at every validation");
  add.flag("--log-placement", options.log_placement,
           "log each operator once, with the devices of what goes in and comes out; slower");
  add.count("--log-every", options.log_every, "steps between two log lines");
  add.word("--log-format", options.log_format, kLogFormats, "of the log lines on stderr");
  add.option("--trace", options.trace,
             "file for a Chrome trace of --trace-steps (default: none), see chrome://tracing");
  add.text("--trace-steps", options.trace_steps, parse_steps, steps_text,
           "first and last step of the trace, from 1");
}

template <class Table>
void list_update_options(Table& add, RunOptions& options) {
  add.group("Devices");
  add.word("--update", options.update, kUpdates,
           "sync: once for all towers; async: each tower as soon as its gradient is ready");
  add.count_or_none("--max-staleness", options.max_staleness,
                    "most updates between a tower's read of the parameters and its own, for async "
                    "(default: no bound); 0 is sync");
}

template <class Table>
void list_process_options(Table& add, WorldChoice& choice) {
  add.group("Processes");
  add.option("--rank", choice.rank, "number of this process, from 0 (default: the launcher's)");
  add.option("--world-size", choice.size,
             "processes that train together (default: the launcher's, or 1)");
  add.option("--master", choice.master,
             "HOST:PORT where rank 0 is reached (default: the launcher's)");
  add.seconds("--join-timeout", choice.join_timeout,
              "seconds that processes wait for each other at the start (default: 300)");
  add.seconds("--step-timeout", choice.step_timeout,
              "seconds after which a process that does not answer ends the run (default: 600)");
}

template <class Table>
void list_exchange_options(Table& add, WireType& wire, LocalSteps& local_steps) {
  add.word(
      "--wire", wire, kWires,
      "what gradients travel in between processes (16 bits with error feedback), or between the "
      "cards of one (fp32 or bf16)");
  add.count("--sync-every", local_steps.every,
            "steps that processes train on their own before they meet, for slow links; 1 exchanges "
            "gradients in every step");
  add.option("--outer-lr", local_steps.outer_rate,
             "learning rate of a meeting; with 1, and --outer-momentum 0, parameters are averaged");
  add.option("--outer-momentum", local_steps.outer_momentum, "Nesterov momentum of meetings");
  add.count_or_none(
      "--sync-overlap", local_steps.overlap,
      "steps that processes train on while what they exchange at a meeting travels; 0 waits "
      "for it");
}

template <class Table>
void list_run_options(Table& add, RunOptions& options) {
  list_training_options(add, options);
  list_init_options(add, options);
  list_output_options(add, options);
  list_device_options(add, options.devices);
  list_placement_option(add, options.parameters);
  list_precision_options(add, options.precision, options.matmul);
  list_update_options(add, options);
  list_stage_options(add, options.stages);
  list_process_options(add, options.processes);
  list_exchange_options(add, options.wire, options.local_steps);
  list_optimizer_options(add, options.optimizer);
}

}  // namespace pagoda
