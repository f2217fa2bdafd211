#include "flags/pipeline_flags.h"

#include <pagoda/base/error.h>

#include "flags/flag_adder.h"
#include "flags/layer_list.h"

namespace pagoda::app {
namespace {

constexpr std::uint64_t kMostStages = 1024;

}  // namespace

void add_pipeline_flags(CLI::App& command, PipelineFlags& flags) {
  FlagAdder add(command, "Pipeline");
  add.option("--stages", flags.stages,
             "parts that the model is cut into; so many devices are one tower")
      ->check(whole_number(1, kMostStages));
  add.option("--stage-layers", flags.stage_layers,
             "layers of each stage, such as 2,2 (default: as even as it goes)");
  add.option("--micro-batches", flags.micro_batches,
             "parts of a tower's batch that are in flight (default: " +
                 std::to_string(kMicroBatches) + " with stages, otherwise 1)")
      ->check(whole_number(1, kMostCount));
  add.word(
      "--pipeline-schedule", flags.schedule, {"gpipe", "1f1b"},
      "gpipe: all forward, then all backward; 1f1b: backward as soon as possible, less memory");
  add.flag("--checkpoint-activations", flags.checkpoint_activations,
           "stages keep their inputs only and compute again: less memory, more work");
  add.word("--output-layer", flags.output_layer, {"last-stage", "every-stage"},
           "where the last layer is: every-stage computes it for some of the micro-batches");
}

std::int64_t PipelineFlags::part_of(std::int64_t batch) const {
  if (batch % parts() != 0) {
    throw UsageError("a tower's batch of " + std::to_string(batch) + " cannot be divided into " +
                     std::to_string(parts()) + " micro-batches; give a multiple of " +
                     std::to_string(parts()) + ", or another --micro-batches");
  }
  return batch / parts();
}

int tower_count(const PipelineFlags& flags, std::size_t devices) {
  const auto needs_stages = [&](const char* option, bool is_given) {
    if (flags.stages == 1 && is_given)
      throw UsageError(std::string(option) + " is for a model in stages; add --stages");
  };
  needs_stages("--stage-layers", !flags.stage_layers.empty());
  needs_stages("--checkpoint-activations", flags.checkpoint_activations);
  needs_stages("--output-layer every-stage", flags.output_layer == "every-stage");
  const auto stages = static_cast<std::size_t>(flags.stages);
  if (devices % stages != 0) {
    throw UsageError(std::to_string(devices) + " devices do not make whole towers of " +
                     std::to_string(stages) + " stages; name a multiple of " +
                     std::to_string(stages) + " with --devices");
  }
  return static_cast<int>(devices / stages);
}

StageOptions stage_options(const PipelineFlags& flags) {
  StageOptions options{.stages = flags.stages};
  if (flags.output_layer == "every-stage") options.output = OutputPlace::every_stage;
  if (!flags.stage_layers.empty()) options.layers_per_stage = parse_layers(flags.stage_layers);
  return options;
}

PipelineOptions pipeline_options(const PipelineFlags& flags) {
  return {.schedule = flags.schedule == "gpipe" ? PipelineSchedule::gpipe
                                                : PipelineSchedule::one_forward_one_backward,
          .checkpoint_activations = flags.checkpoint_activations};
}

}  // namespace pagoda::app
