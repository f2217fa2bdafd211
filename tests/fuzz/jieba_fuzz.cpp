#include "fuzz/check_tokens.h"
#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace jieba_fuzz {

/// A line of text.
std::string read(std::string_view line) {
  if (!has_jieba()) return "a build without cppjieba";
  static const auto jieba = prepared([] { return make_jieba_tokenizer(); });
  return check_tokens(*jieba, line);
}

const Registration registration{{"jieba", &read}};

}  // namespace jieba_fuzz
}  // namespace pagoda::fuzz
