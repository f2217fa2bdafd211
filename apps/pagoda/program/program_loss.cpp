#include "program/program_loss.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <utility>

namespace pagoda::app {

ProgramLoss::ProgramLoss(const ExportedProgram& program,
                         std::optional<PredictionLossOptions> predictions, std::string target)
    : inputs_(program.input_names()),
      outputs_(program.output_names()),
      predictions_(predictions),
      target_(std::move(target)),
      names_(inputs_) {
  const bool is_input = std::find(inputs_.begin(), inputs_.end(), target_) != inputs_.end();
  if (predictions_ && !is_input) names_.push_back(target_);
}

std::vector<at::Tensor> ProgramLoss::inputs(const NamedBatch& batch) const {
  std::vector<at::Tensor> inputs;
  for (const std::string& name : inputs_) inputs.push_back(batch.get(name));
  return inputs;
}

void ProgramLoss::check(const ExportedProgram& program, const NamedBatch& batch) const {
  program.check_inputs(inputs(batch));
}

Scored ProgramLoss::own_loss(const std::vector<at::Tensor>& outputs) const {
  if (outputs.empty() || !outputs[0].defined() || outputs[0].numel() != 1) {
    throw UsageError(
        "the program's first output is not one number, its mean loss; give --loss where it returns "
        "predictions");
  }
  Scored scored{.loss = outputs[0]};
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    if (outputs[i].defined() && outputs[i].numel() == 1)
      scored.metrics.emplace_back(outputs_[i], outputs[i].detach());
  }
  return scored;
}

Scored ProgramLoss::score(const std::vector<at::Tensor>& outputs, const NamedBatch& batch) const {
  if (!predictions_) return own_loss(outputs);
  const at::Tensor& target = batch.get(target_);
  Scored scored{.loss = prediction_loss(outputs.at(0), target, *predictions_)};
  const at::Tensor right = prediction_accuracy(outputs[0], target, predictions_->loss);
  if (right.defined()) scored.metrics.emplace_back("accuracy", right);
  return scored;
}

Scored ProgramLoss::operator()(ExportedModel& model, const NamedBatch& batch) const {
  return score(model(inputs(batch)), batch);
}

}  // namespace pagoda::app
