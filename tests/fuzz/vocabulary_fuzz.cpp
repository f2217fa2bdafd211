#include <pagoda/text/vocabulary.h>

#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace vocabulary_fuzz {

std::string text_of(const Vocabulary& vocabulary) {
  std::string text;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    require(vocabulary.id(vocabulary.token(id)) == id, "a token has another token's number");
    text += std::string(vocabulary.token(id)) + "\n";
  }
  return text;
}

std::string read(std::string_view bytes) {
  const Vocabulary vocabulary = Vocabulary::load(input_file(bytes));
  const auto copy = input_file("", "copy");
  vocabulary.save(copy);
  const std::string text = text_of(vocabulary);
  require(text_of(Vocabulary::load(copy)) == text, "a vocabulary is another one when saved");
  std::vector<std::string> tokens;
  TokenCounter counter;
  for (TokenId id = kSpecialTokens; id < vocabulary.size(); ++id) {
    tokens.push_back(vocabulary.token(id));
    counter.add(vocabulary.token(id));
  }
  require(text_of(Vocabulary(tokens)) == text, "a vocabulary is another one when made anew");
  require(counter.vocabulary(vocabulary.size()).size() == vocabulary.size(), "a token is lost");
  for (const TokenId id : counter.ids_in(vocabulary))
    require(id != kUnknown, "a token is not in its vocabulary");
  return text;
}

const Registration registration{{"vocabulary", &read}};

}  // namespace vocabulary_fuzz
}  // namespace pagoda::fuzz
