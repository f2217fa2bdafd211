#include "text/stored_seq2seq.h"

#include <pagoda/base/error.h>

#include "text/seq2seq_training.h"

namespace pagoda::app {

StoredSeq2Seq open_seq2seq(const StoredRunFlags& flags, const std::vector<Device>& devices) {
  const StoredRun run = open_run(flags);
  expect_model(run, flags, "seq2seq");
  const Seq2SeqFlags options = options_of_run(run.checkpoint.config);
  const auto vocabularies = vocabulary_directory(flags.run);
  check_vocabularies(flags.run, read_data_record(flags.run),
                     vocabulary_inputs(options.text, vocabularies));
  Codecs codecs = load_codecs(options.text, vocabularies);
  const Seq2SeqOptions model = chosen_network(options.network, codecs.source.vocabulary().size(),
                                              codecs.target.vocabulary().size());
  std::unique_ptr<Towers<Seq2Seq>> towers(
      new Towers<Seq2Seq>(make_towers(devices, [model] { return Seq2Seq(model); })));
  load_weights(run, flags, *towers);
  return {std::move(codecs), std::move(towers)};
}

}  // namespace pagoda::app
