#pragma once

#include <pagoda/base/json.h>
#include <pagoda/run/picture.h>

#include <string>

#include "seq2seq/translator.h"

namespace pagoda::app {

/// Weights [target, source] as squares: a row for each token of the target, a column for each of
/// the source, white for 1 and black for 0.
Picture attention_picture(const at::Tensor& weights);

/// {"source": [tokens], "target": [tokens], "weights": [[…] for each token of the target]}; all
/// empty for a translation without tokens.
void write_attention(JsonWriter& json, const Translation& translation);
std::string attention_json(const Translation& translation);

}  // namespace pagoda::app
