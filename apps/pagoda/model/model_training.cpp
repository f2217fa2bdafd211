#include "model/model_training.h"

#include <pagoda/cli/config_file.h>
#include <pagoda/cli/run_flags.h>

namespace pagoda::app {

void take_flags_of(const StoredRun& run, ModelTraining& training) {
  CLI::App command("options of a run", run.model());
  RunOptions options = training.defaults();
  training.add_flags(command);
  add_run_flags(command, options);
  apply_run_config(command, run.checkpoint.config);
}

}  // namespace pagoda::app
