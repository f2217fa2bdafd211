#pragma once

#include <string>
#include <vector>

#include "seq2seq/translator.h"
#include "serve/translate_request.h"

namespace pagoda::app {

/// {"translations": [{"source": "…", "hypotheses": [{"text": "…", "score": -0.1}]}]}, a translation
/// for each line; with tokens and attention where the request wants them.
std::string answer_json(const TranslateRequest& request,
                        const std::vector<std::vector<Translation>>& translations);

/// {"error": "…"}
std::string error_json(const std::string& what);

}  // namespace pagoda::app
