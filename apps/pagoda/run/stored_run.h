#pragma once

#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/checkpoint_store.h>
#include <pagoda/tower/tower_group.h>

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// RUN and which of its weights are wanted.
struct StoredRunFlags {
  std::string run;
  bool raw = false;
  bool ema = false;  ///< the default, to be said aloud
  bool best = false;
  std::string weights = {};  ///< file with others for the run's model; empty: the run's own
};
void add_stored_run_flags(CLI::App& command, StoredRunFlags& flags);

/// The checkpoints of a run. Fails: UsageError when the directory holds no run.
CheckpointStore open_checkpoints(const std::string& run);

/// What a run directory holds for those who do not train.
struct StoredRun {
  std::string directory;
  Checkpoint checkpoint;
  std::vector<NamedTensor> weights;  ///< parameters and buffers by name, sorted
  bool averaged = false;             ///< the parameters are the moving average
  std::string file = {};             ///< where the weights come from; empty: the checkpoint

  /// "averaged weights after step 7820", "weights of model.safetensors".
  std::string weights_text() const;
  /// The name of its model; "unknown" where its configuration has none.
  std::string model() const;
  /// What it was trained in, where these devices are fast in it; otherwise fp32.
  Precision precision_on(const std::vector<Device>& devices) const;
};

/// The newest whole checkpoint, or the best; damaged ones are reported on stderr and passed over. The
/// weights are its own, or those of the file that is named.
/// Fails: as read_weights; UsageError when the directory holds no run, or the best or the moving average is asked
/// for and there is none; DataError when no checkpoint is whole.
StoredRun open_run(const StoredRunFlags& flags);

/// Fails: UsageError when the run is of another model.
void expect_model(const StoredRun& run, const std::string& model);

/// Puts the weights into all towers. Fails: DataError that lists what differs from the model.
void load_weights(const StoredRun& run, TowerGroup& towers);

}  // namespace pagoda::app
