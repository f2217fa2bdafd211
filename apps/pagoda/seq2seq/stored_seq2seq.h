#pragma once

#include <pagoda/tower/towers.h>

#include <memory>
#include <vector>

#include "run/stored_run.h"
#include "seq2seq/seq2seq_loss.h"
#include "seq2seq/text_task.h"

namespace pagoda::app {

/// A trained seq2seq model on towers, with its vocabularies.
struct StoredSeq2Seq {
  Codecs codecs;
  std::unique_ptr<Towers<SequenceModelPtr>> towers;
};

/// The model of a run that was trained with these flags.
/// Fails: DataError when its weights or vocabularies do not fit.
StoredSeq2Seq load_seq2seq(const StoredRun& run, const Seq2SeqFlags& flags,
                           const std::vector<Device>& devices);

/// The same with the flags of the run's configuration. Fails: as open_run; UsageError besides, when
/// the run is of another model.
StoredSeq2Seq open_seq2seq(const StoredRunFlags& flags, const std::vector<Device>& devices);

}  // namespace pagoda::app
