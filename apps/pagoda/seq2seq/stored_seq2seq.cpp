#include "seq2seq/stored_seq2seq.h"

#include <pagoda/models/int8_weights.h>

#include "seq2seq/run_shortlist.h"
#include "seq2seq/seq2seq_training.h"

namespace pagoda::app {
namespace {

void use_int8(Towers<SequenceModelPtr>& towers) {
  Int8Products products;
  for (int tower = 0; tower < towers.size(); ++tower) towers.model(tower)->use_int8(products);
}

}  // namespace

void add_speed_flags(FlagAdder& add, DecodingSpeed& speed) {
  add.flag("--int8", speed.int8,
           "weights of 8 bits: faster on CPU devices, nearly the same result");
  add.whole("--shortlist", speed.shortlist, 0, ShortlistOptions{}.kept,
            "look at so many likely target tokens for each source token, and the frequent ones, "
            "instead of all; 0 looks at all");
}

StoredSeq2Seq load_seq2seq(const StoredRun& run, const Seq2SeqFlags& flags,
                           const std::vector<Device>& devices, const DecodingSpeed& speed) {
  const auto vocabularies = vocabulary_directory(run.directory);
  check_vocabularies(run.directory, read_data_record(run.directory),
                     vocabulary_inputs(flags.text, vocabularies));
  Codecs codecs = load_codecs(flags.text, vocabularies);
  const NetworkOptions model =
      chosen_network(flags.network, {.source_vocabulary = codecs.source.vocabulary().size(),
                                     .target_vocabulary = codecs.target.vocabulary().size(),
                                     .longest_sequence = flags.text.longest_sequence()});
  const Precision precision = speed.int8 ? Precision::fp32 : run.precision_on(devices);
  std::unique_ptr<Towers<SequenceModelPtr>> towers(new Towers<SequenceModelPtr>(
      make_towers(devices, [model] { return make_network(model); }, {.precision = precision})));
  load_weights(run, *towers);
  if (speed.int8) use_int8(*towers);
  ShortlistChoice shortlist;
  if (speed.shortlist > 0) {
    shortlist = {std::make_shared<Shortlist>(run_shortlist(run.directory, flags.text, codecs)),
                 speed.shortlist};
  }
  return {std::move(codecs), std::move(towers), std::move(shortlist)};
}

StoredSeq2Seq open_seq2seq(const StoredRunFlags& flags, const std::vector<Device>& devices,
                           const DecodingSpeed& speed) {
  const StoredRun run = open_run(flags);
  expect_model(run, "seq2seq");
  Seq2SeqTraining training;
  take_flags_of(run, training);
  return load_seq2seq(run, training.flags(), devices, speed);
}

}  // namespace pagoda::app
