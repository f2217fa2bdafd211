// Takes the place of jieba_tokenizer.cpp in a build without cppjieba.
#include <pagoda/base/error.h>
#include <pagoda/text/tokenizer.h>

namespace pagoda {

std::unique_ptr<Tokenizer> make_jieba_tokenizer(const std::filesystem::path&) {
  throw UsageError(
      "this Pagoda was built without cppjieba, so it cannot cut Chinese words with jieba; run "
      "tools/setup and build again, or take characters or SentencePiece");
}

bool has_jieba() { return false; }

}  // namespace pagoda
