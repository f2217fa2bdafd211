#pragma once

#include <pagoda/data/named_batch.h>
#include <pagoda/program/exported_model.h>
#include <pagoda/program/prediction_loss.h>
#include <pagoda/train/scored.h>

#include <optional>
#include <string>
#include <vector>

namespace pagoda::app {

/// The loss of a program: what it returns first, with its further numbers as metrics; or a loss of
/// its predictions.
///
/// Threads: any number may call it at once. Owns everything that it uses.
class ProgramLoss {
 public:
  /// Without `predictions` the program computes its loss itself. `target`: the tensor that the
  /// predictions are compared with.
  ProgramLoss(const ExportedProgram& program, std::optional<PredictionLossOptions> predictions,
              std::string target);

  /// The tensors of a row: the program's inputs in their order, then the target where it is not one
  /// of them.
  const std::vector<std::string>& names() const { return names_; }

  Scored operator()(ExportedModel& model, const NamedBatch& batch) const;

  /// For a model in stages: what the first layer takes, and the score of what the last gives.
  std::vector<at::Tensor> inputs(const NamedBatch& batch) const;
  Scored score(const std::vector<at::Tensor>& outputs, const NamedBatch& batch) const;

  /// Fails: UsageError that names the input that does not fit the program.
  void check(const ExportedProgram& program, const NamedBatch& batch) const;

 private:
  Scored own_loss(const std::vector<at::Tensor>& outputs) const;

  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::optional<PredictionLossOptions> predictions_;
  std::string target_;
  std::vector<std::string> names_;
};

}  // namespace pagoda::app
