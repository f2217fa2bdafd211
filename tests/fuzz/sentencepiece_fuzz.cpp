#include <pagoda/text/sentencepiece_training.h>

#include <optional>
#include <vector>

#include "fuzz/check_tokens.h"
#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace sentencepiece_fuzz {

std::filesystem::path small_model() {
  std::vector<std::string> lines;
  for (const char* who : {"the cat", "a dog", "my sister", "our teacher", "le chat", "un chien"}) {
    for (const char* what : {" sees the house", " reads a book", " drinks water", " is here"})
      lines.push_back(std::string(who) + what);
  }
  const auto path = input_file("", "small.model");
  std::size_t next = 0;
  const auto next_line = [&]() -> std::optional<std::string_view> {
    return next < lines.size() ? std::optional<std::string_view>(lines[next++]) : std::nullopt;
  };
  train_sentencepiece(next_line, path, {.vocab_size = 40});
  return path;
}

/// A line of text, with a model that was learned here: the library's reader of models is not made
/// for files of strangers, and neither are we with it.
std::string read(std::string_view line) {
  static const auto tokenizer =
      prepared([] { return make_sentencepiece_tokenizer(small_model()); });
  return check_tokens(*tokenizer, line);
}

const Registration registration{{"sentencepiece", &read}};

}  // namespace sentencepiece_fuzz
}  // namespace pagoda::fuzz
