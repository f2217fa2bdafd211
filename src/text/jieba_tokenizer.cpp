#include <pagoda/base/error.h>
#include <pagoda/base/installed_data.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/text/tokenizer.h>

#include "text/character_class.h"
#include "text/throwing_jieba.h"

namespace pagoda {
namespace {

std::filesystem::path dictionary(const std::filesystem::path& folder, const char* name) {
  const std::filesystem::path path = folder / name;
  if (!std::filesystem::is_regular_file(path)) {
    throw IoError("there is no jieba dictionary " + path.string() +
                  "; name the folder that holds jieba.dict.utf8 and hmm_model.utf8");
  }
  read_whole_file(path);  // cppjieba takes a read that fails for the end
  return path;
}

bool is_ascii_word(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

class JiebaTokenizer : public Tokenizer {
 public:
  explicit JiebaTokenizer(const std::filesystem::path& folder)
      : words_(dictionary(folder, "jieba.dict.utf8")),
        unknown_words_(dictionary(folder, "hmm_model.utf8")),
        segment_(&words_, &unknown_words_) {}

  std::vector<std::string> tokens(std::string_view line) const override {
    std::vector<std::string> tokens;
    for (const std::string_view part : split_at_spaces(line)) {
      std::vector<std::string> words;
      segment_.Cut(std::string(part), words, /*hmm=*/true);
      for (auto& word : words) tokens.push_back(std::move(word));
    }
    return tokens;
  }

  /// No spaces but between two words of Latin letters or digits.
  std::string text(std::span<const std::string> tokens) const override {
    std::string text;
    for (const auto& token : tokens) {
      if (!text.empty() && !token.empty() && is_ascii_word(text.back()) &&
          is_ascii_word(token.front())) {
        text += ' ';
      }
      text += token;
    }
    return text;
  }

 private:
  cppjieba::DictTrie words_;
  cppjieba::HMMModel unknown_words_;
  cppjieba::MixSegment segment_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_jieba_tokenizer(const std::filesystem::path& dictionaries) {
  return std::make_unique<JiebaTokenizer>(
      dictionaries.empty() ? installed_data("jieba", PAGODA_JIEBA_DICTIONARIES) : dictionaries);
}

bool has_jieba() { return true; }

}  // namespace pagoda
