#include "seq2seq/seq2seq_model.h"

#include "seq2seq/seq2seq_measuring.h"
#include "seq2seq/seq2seq_training.h"

namespace pagoda::app {

KnownModel seq2seq_model() {
  return {.name = "seq2seq",
          .about = "Encoder and decoder with attention: translation, dialogue",
          .training = [] { return std::make_unique<Seq2SeqTraining>(); },
          .measuring = [] { return std::make_unique<Seq2SeqMeasuring>(); }};
}

}  // namespace pagoda::app
