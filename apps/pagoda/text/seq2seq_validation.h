#pragma once

#include <pagoda/models/seq2seq.h>
#include <pagoda/run/validation.h>
#include <pagoda/tower/towers.h>

#include "text/text_task.h"

namespace pagoda::app {

/// Tests a seq2seq model on the validation text: perplexity, also by bucket, BLEU and exact matches
/// of greedy translations, a few of them to look at, and attention as a picture. `towers` compute
/// whole models.
Validation validate_seq2seq(Towers<Seq2Seq>& towers, const TextFlags& flags, const Codecs& codecs,
                            const EncodedText& text);

}  // namespace pagoda::app
