#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Cuts a line into tokens and puts tokens together again.
///
/// Threads: `tokens` and `text` may be called by several at once.
/// Fails: nothing, for a line of valid UTF-8.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokens of a line, none of them empty or with white space in it; none for a blank line.
  virtual std::vector<std::string> tokens(std::string_view line) const = 0;

  /// The line that these tokens make.
  virtual std::string text(std::span<const std::string> tokens) const = 0;
};

/// What words are.
struct WordTokenizerOptions {
  bool lower_case = false;  ///< whether capital letters become small ones
  /// Punctuation becomes tokens of its own, except apostrophes and hyphens between letters and
  /// dots and commas between digits.
  bool split_punctuation = true;
};

/// Words between white space.
std::unique_ptr<Tokenizer> make_word_tokenizer(const WordTokenizerOptions& options = {});

/// Every character is a token; a space is the token "▁" (U+2581).
std::unique_ptr<Tokenizer> make_character_tokenizer();

/// SentencePiece, with a model file of its own or anybody else's.
/// Fails: IoError or DataError when the model cannot be read.
std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(const std::filesystem::path& model);

/// Chinese words as jieba finds them (cppjieba, with its dictionary and its model for unknown
/// words). Text of other languages is cut at spaces and punctuation.
/// `dictionaries`: a folder with jieba.dict.utf8 and hmm_model.utf8; empty means the one that is
/// installed beside the program, or else the one that Pagoda was built with.
/// Fails: UsageError in a build without cppjieba; IoError when the dictionaries are not there.
std::unique_ptr<Tokenizer> make_jieba_tokenizer(const std::filesystem::path& dictionaries = {});

/// Whether make_jieba_tokenizer works in this build.
bool has_jieba();

/// The tokenizers that options can name.
enum class TokenizerKind { sentencepiece, words, characters, jieba };

/// Fails: UsageError for another name than sentencepiece, words, characters or jieba.
TokenizerKind tokenizer_kind(std::string_view name);

/// Which tokenizer, and how.
struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::sentencepiece;  ///< which one
  std::filesystem::path model = {};                   ///< of sentencepiece
  WordTokenizerOptions words = {};                    ///< of words
  std::filesystem::path dictionaries = {};            ///< of jieba
};

/// The tokenizer of that kind; see the functions above.
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options);

}  // namespace pagoda
