#include "seq2seq/stored_seq2seq.h"

#include "seq2seq/seq2seq_training.h"

namespace pagoda::app {

StoredSeq2Seq load_seq2seq(const StoredRun& run, const Seq2SeqFlags& flags,
                           const std::vector<Device>& devices) {
  const auto vocabularies = vocabulary_directory(run.directory);
  check_vocabularies(run.directory, read_data_record(run.directory),
                     vocabulary_inputs(flags.text, vocabularies));
  Codecs codecs = load_codecs(flags.text, vocabularies);
  const NetworkOptions model = chosen_network(flags.network, codecs.source.vocabulary().size(),
                                              codecs.target.vocabulary().size());
  std::unique_ptr<Towers<SequenceModelPtr>> towers(new Towers<SequenceModelPtr>(make_towers(
      devices, [model] { return make_network(model); }, {.precision = run.precision_on(devices)})));
  load_weights(run, *towers);
  return {std::move(codecs), std::move(towers)};
}

StoredSeq2Seq open_seq2seq(const StoredRunFlags& flags, const std::vector<Device>& devices) {
  const StoredRun run = open_run(flags);
  expect_model(run, "seq2seq");
  Seq2SeqTraining training;
  take_flags_of(run, training);
  return load_seq2seq(run, training.flags(), devices);
}

}  // namespace pagoda::app
