#include "serve/run_translator.h"

#include "seq2seq/stored_seq2seq.h"

namespace pagoda::app {

struct RunTranslator::Model {
  StoredSeq2Seq stored;
};

RunTranslator::RunTranslator(const StoredRunFlags& run, const std::vector<Device>& devices,
                             const DecodingSpeed& speed)
    : model_(new Model{open_seq2seq(run, devices, speed)}),
      options_{.batch_tokens = speed.batch_tokens(), .shortlist = model_->stored.shortlist} {}

RunTranslator::~RunTranslator() = default;

std::vector<std::vector<Translation>> RunTranslator::translate(
    const std::vector<std::string>& lines, const DecodingChoice& decoding) {
  DecodeOptions options = translation_options();
  options.attention = decoding.attention;
  const Decode decode = beam_decoding(
      {.decode = options, .beam_size = decoding.beam_size, .n_best = decoding.n_best});
  return translate_lines(*model_->stored.towers, model_->stored.codecs, lines, decode, options_);
}

int RunTranslator::towers() const { return model_->stored.towers->size(); }

}  // namespace pagoda::app
