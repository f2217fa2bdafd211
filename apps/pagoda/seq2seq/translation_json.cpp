#include "seq2seq/translation_json.h"

#include <pagoda/base/utf8.h>

#include "seq2seq/attention_output.h"

namespace pagoda::app {

void write_translations(JsonWriter& json, const std::string& source,
                        const std::vector<Translation>& translations,
                        const TranslationParts& parts) {
  json.begin_object().key("source").value(source).key("hypotheses").begin_array();
  for (const Translation& one : translations) {
    // Pieces of a SentencePiece model may be single bytes.
    json.begin_object().key("text").value(valid_utf8(one.text)).key("score").value(one.score);
    if (parts.tokens) json.key("tokens").values(one.tokens);
    if (parts.attention && &one == &translations.front()) {
      json.key("attention");
      write_attention(json, one);
    }
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace pagoda::app
