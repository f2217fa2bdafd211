#include <pagoda/base/utf8.h>
#include <pagoda/text/bleu.h>
#include <pagoda/text/chinese_spaces.h>

#include "fuzz/check_tokens.h"
#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace tokenizers_fuzz {

/// A line of text.
std::string read(std::string_view line) {
  static const auto words = make_word_tokenizer();
  static const auto plain_words =
      make_word_tokenizer({.lower_case = true, .split_punctuation = false});
  static const auto characters = make_character_tokenizer();
  std::string text;
  for (const Tokenizer* tokenizer : {words.get(), plain_words.get(), characters.get()})
    text += check_tokens(*tokenizer, line) + "\n";
  const std::string valid = valid_utf8(line);
  const std::string closed = without_chinese_spaces(valid);
  require(!find_bad_utf8(closed) && closed.size() <= valid.size(), "spaces were not taken away");
  Bleu bleu;
  bleu.add(valid, closed);
  require(bleu.score() >= 0 && bleu.score() <= 100 + 1e-9, "BLEU is not between 0 and 100");
  return text + closed;
}

const Registration registration{{"tokenizers", &read}};

}  // namespace tokenizers_fuzz
}  // namespace pagoda::fuzz
