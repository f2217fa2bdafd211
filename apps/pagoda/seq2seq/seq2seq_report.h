#pragma once

#include "model/model_training.h"
#include "seq2seq/seq2seq_validation.h"

namespace pagoda::app {

/// Perplexity, BLEU, exact matches, and a few translations.
TestReport report_of(const Seq2SeqTest& test);

}  // namespace pagoda::app
