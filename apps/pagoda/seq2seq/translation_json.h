#pragma once

#include <pagoda/base/json.h>

#include <string>
#include <vector>

#include "seq2seq/translator.h"

namespace pagoda::app {

/// What is written of a translation besides its text and score.
struct TranslationParts {
  bool tokens = false;
  bool attention = false;  ///< of the best one
};

/// {"source": "…", "hypotheses": [{"text": "…", "score": -0.1, "tokens": ["…"], "attention": {…}}]},
/// the best first. The attention is as attention_json gives it.
void write_translations(JsonWriter& json, const std::string& source,
                        const std::vector<Translation>& translations,
                        const TranslationParts& parts);

}  // namespace pagoda::app
