#include <pagoda/base/error.h>
#include <pagoda/text/tokenizer.h>

namespace pagoda {

TokenizerKind tokenizer_kind(std::string_view name) {
  if (name == "sentencepiece") return TokenizerKind::sentencepiece;
  if (name == "words") return TokenizerKind::words;
  if (name == "characters") return TokenizerKind::characters;
  if (name == "jieba") return TokenizerKind::jieba;
  throw UsageError("there is no tokenizer \"" + std::string(name) +
                   "\"; take sentencepiece, words, characters or jieba");
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options) {
  switch (options.kind) {
    case TokenizerKind::words:
      return make_word_tokenizer(options.words);
    case TokenizerKind::characters:
      return make_character_tokenizer();
    case TokenizerKind::jieba:
      return make_jieba_tokenizer(options.dictionaries);
    default:
      return make_sentencepiece_tokenizer(options.model);
  }
}

}  // namespace pagoda
