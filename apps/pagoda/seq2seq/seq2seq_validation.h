#pragma once

#include <pagoda/run/validation.h>
#include <pagoda/tower/towers.h>
#include <pagoda/world/world.h>

#include <cstdint>
#include <string>
#include <vector>

#include "seq2seq/seq2seq_loss.h"
#include "seq2seq/text_task.h"

namespace pagoda::app {

/// A sentence, what the model made of it, and what it should have been.
struct TranslatedPair {
  std::string source;
  std::string translation;
  std::string reference;

  /// "source → translation (reference)".
  std::string text() const;
};

/// How a model did on the validation text.
struct Seq2SeqTest {
  std::int64_t pairs = 0;
  /// The likelihood's loss and "perplexity", also by bucket as "perplexity_5_10", and, of greedy
  /// translations, "bleu" and the part that are "exact". It counts tokens.
  Evaluation evaluation = {};
  std::vector<TranslatedPair> shown = {};  ///< a few translations to look at
};

/// Tests the towers' model, whole on each of them. With a world all processes call it together: their
/// towers divide the batches, and each process gets the result of all.
/// Fails: TowerError when something throws on a tower; WorldError.
Seq2SeqTest test_seq2seq(Towers<SequenceModelPtr>& towers, const TextFlags& flags,
                         const Codecs& codecs, const EncodedText& text, World* world = nullptr);

/// The same for a run, and attention as a picture.
Validation validate_seq2seq(Towers<SequenceModelPtr>& towers, const TextFlags& flags,
                            const Codecs& codecs, const EncodedText& text, World* world = nullptr);

}  // namespace pagoda::app
