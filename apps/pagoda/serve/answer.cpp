#include "serve/answer.h"

#include <pagoda/base/json.h>
#include <pagoda/base/utf8.h>

#include "seq2seq/translation_json.h"

namespace pagoda::app {

std::string answer_json(const TranslateRequest& request,
                        const std::vector<std::vector<Translation>>& translations) {
  JsonWriter json;
  json.begin_object().key("translations").begin_array();
  for (std::size_t i = 0; i < translations.size(); ++i) {
    write_translations(json, request.lines[i], translations[i],
                       {.tokens = request.tokens, .attention = request.decoding.attention});
  }
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string error_json(const std::string& what) {
  JsonWriter json;
  json.begin_object().key("error").value(valid_utf8(what)).end_object();
  return json.text() + "\n";
}

}  // namespace pagoda::app
