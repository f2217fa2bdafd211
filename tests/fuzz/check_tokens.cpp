#include "fuzz/check_tokens.h"

#include <pagoda/base/utf8.h>

#include "fuzz/fuzz_target.h"
#include "text/character_class.h"

namespace pagoda::fuzz {

std::string check_tokens(const Tokenizer& tokenizer, std::string_view line) {
  std::string text = valid_utf8(line.substr(0, line.find('\n')));
  const auto tokens = tokenizer.tokens(text);
  text.clear();
  for (const auto& token : tokens) {
    require(!token.empty(), "a token is empty");
    require(!find_bad_utf8(token), "a token is not UTF-8");
    for (const auto character : utf8_characters(token))
      require(!is_space(character), "a token has white space in it");
    text += token + "\n";
  }
  const std::string made = tokenizer.text(tokens);
  require(!find_bad_utf8(made), "the text of tokens is not UTF-8");
  return text + made;
}

}  // namespace pagoda::fuzz
