#pragma once

#include <pagoda/models/seq2seq.h>
#include <pagoda/tower/towers.h>

#include <memory>
#include <vector>

#include "run/stored_run.h"
#include "text/text_task.h"

namespace pagoda::app {

/// A trained seq2seq model on towers, with its vocabularies.
struct StoredSeq2Seq {
  Codecs codecs;
  std::unique_ptr<Towers<Seq2Seq>> towers;
};

/// Fails: as open_run; UsageError when the run is of another model; DataError when its weights or
/// vocabularies do not fit.
StoredSeq2Seq open_seq2seq(const StoredRunFlags& flags, const std::vector<Device>& devices);

}  // namespace pagoda::app
