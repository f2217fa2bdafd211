#include <pagoda/base/utf8.h>
#include <pagoda/text/tokenizer.h>

#include <algorithm>

#include "text/character_class.h"

namespace pagoda {
namespace {

constexpr std::string_view kNoSpaceBefore = ".,;:!?)]}%…»、。，；：！？）】》”";
constexpr std::string_view kNoSpaceAfter = "([{«（【《“¿¡";
constexpr std::string_view kInWord = "'’-‐";

bool is_one_of(std::string_view character, std::string_view set) {
  return set.find(character) != std::string_view::npos;
}

/// Whether the punctuation at `i` belongs to the word around it.
bool joins(const std::vector<std::string_view>& word, std::size_t i) {
  if (i == 0 || i + 1 == word.size()) return false;
  if (is_one_of(word[i], kInWord)) return is_letter(word[i - 1]) && is_letter(word[i + 1]);
  return (word[i] == "." || word[i] == ",") && is_digit(word[i - 1]) && is_digit(word[i + 1]);
}

bool is_plain(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9');
}

void split_word(std::string_view word, std::vector<std::string>& tokens) {
  if (std::all_of(word.begin(), word.end(), is_plain)) {  // most words
    tokens.emplace_back(word);
    return;
  }
  const auto characters = utf8_characters(word);
  std::string token;
  const auto end_token = [&] {
    if (!token.empty()) tokens.push_back(std::move(token));
    token.clear();
  };
  for (std::size_t i = 0; i < characters.size(); ++i) {
    if (!is_punctuation(characters[i]) || joins(characters, i)) {
      token += characters[i];
    } else {
      end_token();
      tokens.emplace_back(characters[i]);
    }
  }
  end_token();
}

class WordTokenizer : public Tokenizer {
 public:
  explicit WordTokenizer(const WordTokenizerOptions& options) : options_(options) {}

  std::vector<std::string> tokens(std::string_view line) const override {
    const std::string lower = options_.lower_case ? lower_case(line) : std::string();
    if (options_.lower_case) line = lower;
    std::vector<std::string> tokens;
    for (const std::string_view word : split_at_spaces(line)) {
      if (options_.split_punctuation) {
        split_word(word, tokens);
      } else {
        tokens.emplace_back(word);
      }
    }
    return tokens;
  }

  std::string text(std::span<const std::string> tokens) const override {
    std::string text;
    bool space = false;
    for (const auto& token : tokens) {
      const bool attached = options_.split_punctuation && is_one_of(token, kNoSpaceBefore);
      if (space && !attached) text += ' ';
      text += token;
      space = !(options_.split_punctuation && is_one_of(token, kNoSpaceAfter));
    }
    return text;
  }

 private:
  const WordTokenizerOptions options_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_word_tokenizer(const WordTokenizerOptions& options) {
  return std::make_unique<WordTokenizer>(options);
}

}  // namespace pagoda
