#pragma once

#include <pagoda/cli/flag_adder.h>
#include <pagoda/tower/towers.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "run/stored_run.h"
#include "seq2seq/seq2seq_loss.h"
#include "seq2seq/text_task.h"
#include "seq2seq/translator.h"

namespace pagoda::app {

/// What decoding may leave out to be faster.
struct DecodingSpeed {
  bool int8 = false;           ///< weights have 8 bits
  std::int64_t shortlist = 0;  ///< target tokens that are looked at for each source token; 0: all

  /// How many tokens a tower best decodes together: in 8 bits memory is the limit sooner.
  std::int64_t batch_tokens() const { return int8 ? 512 : TranslatorOptions{}.batch_tokens; }
};
void add_speed_flags(FlagAdder& add, DecodingSpeed& speed);

/// A trained seq2seq model on towers, with its vocabularies.
struct StoredSeq2Seq {
  Codecs codecs;
  std::unique_ptr<Towers<SequenceModelPtr>> towers;
  ShortlistChoice shortlist = {};
};

/// The model of a run that was trained with these flags.
/// Fails: DataError when its weights or vocabularies do not fit; as run_shortlist and
/// SequenceModel::use_int8, if that is asked for.
StoredSeq2Seq load_seq2seq(const StoredRun& run, const Seq2SeqFlags& flags,
                           const std::vector<Device>& devices, const DecodingSpeed& speed = {});

/// The same with the flags of the run's configuration. Fails: as open_run; UsageError besides, when
/// the run is of another model.
StoredSeq2Seq open_seq2seq(const StoredRunFlags& flags, const std::vector<Device>& devices,
                           const DecodingSpeed& speed = {});

}  // namespace pagoda::app
