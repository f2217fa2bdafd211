#include <pagoda/base/utf8.h>
#include <pagoda/text/tokenizer.h>

#include "text/character_class.h"

namespace pagoda {
namespace {

constexpr std::string_view kSpace = "▁";

class CharacterTokenizer : public Tokenizer {
 public:
  std::vector<std::string> tokens(std::string_view line) const override {
    std::vector<std::string> tokens;
    for (const std::string_view word : split_at_spaces(line)) {
      if (!tokens.empty()) tokens.emplace_back(kSpace);
      for (const std::string_view character : utf8_characters(word)) tokens.emplace_back(character);
    }
    return tokens;
  }

  std::string text(std::span<const std::string> tokens) const override {
    std::string text;
    for (const auto& token : tokens) text += token == kSpace ? " " : token;
    return text;
  }
};

}  // namespace

std::unique_ptr<Tokenizer> make_character_tokenizer() {
  return std::make_unique<CharacterTokenizer>();
}

}  // namespace pagoda
