#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/run/stage_choice.h>

#include <string>

namespace pagoda {

std::int64_t StageChoice::part_of(std::int64_t batch) const {
  if (batch % parts() != 0) {
    throw UsageError("a tower's batch of " + std::to_string(batch) + " cannot be divided into " +
                     std::to_string(parts()) + " micro-batches; give a multiple of " +
                     std::to_string(parts()) + ", or another number of micro-batches");
  }
  return batch / parts();
}

int tower_count(const StageChoice& choice, std::size_t devices) {
  const auto needs_stages = [&](const char* option, bool is_given) {
    if (!choice.is_staged() && is_given)
      throw UsageError(std::string(option) + " is for a model in stages; give a number of stages");
  };
  needs_stages("a list of the stages' layers", !choice.cut.layers_per_stage.empty());
  needs_stages("recomputing activations", choice.pipeline.checkpoint_activations);
  needs_stages("an output layer on every stage", choice.cut.output == OutputPlace::every_stage);
  const auto stages = static_cast<std::size_t>(choice.cut.stages);
  if (devices % stages != 0) {
    throw UsageError("whole towers of " + counted(choice.cut.stages, "stage") +
                     " cannot be made of " + counted(static_cast<std::int64_t>(devices), "device") +
                     "; name a multiple of " + counted(choice.cut.stages, "device"));
  }
  return static_cast<int>(devices / stages);
}

}  // namespace pagoda
