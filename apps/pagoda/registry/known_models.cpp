#include "registry/known_models.h"

#include <pagoda/base/error.h>

#include "lenet5/lenet5_model.h"
#include "mlp/mlp_model.h"
#include "program/program_model.h"
#include "seq2seq/seq2seq_model.h"

namespace pagoda::app {

const std::vector<KnownModel>& known_models() {
  static const std::vector<KnownModel> models{
      lenet5_model(),
      seq2seq_model(),
      mlp_model(),
      program_model(),
  };
  return models;
}

const KnownModel& model_of(const StoredRun& run) {
  std::string names;
  for (const KnownModel& model : known_models()) {
    if (!model.training) continue;
    if (model.name == run.model()) return model;
    names += (names.empty() ? "" : ", ") + model.name;
  }
  throw UsageError(run.directory + " is a run of the model '" + run.model() +
                   "', which this program does not know; it knows " + names);
}

}  // namespace pagoda::app
