#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Splits a line into tokens, and joins tokens into a line.
///
/// Threads: any number may call `tokens` and `text` at once.
/// Fails: never, for valid UTF-8.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokens of a line, none of them empty or containing white space; a blank line has none.
  virtual std::vector<std::string> tokens(std::string_view line) const = 0;

  /// The line that these tokens form.
  virtual std::string text(std::span<const std::string> tokens) const = 0;
};

/// How a line is split into words.
struct WordTokenizerOptions {
  bool lower_case = false;  ///< convert to lower case
  /// Make every punctuation mark a token of its own, except apostrophes and hyphens between
  /// letters, and dots and commas between digits.
  bool split_punctuation = true;
};

/// Tokens are words, separated by white space.
std::unique_ptr<Tokenizer> make_word_tokenizer(const WordTokenizerOptions& options = {});

/// Tokens are characters; the white space between two words is one token, "▁" (U+2581).
std::unique_ptr<Tokenizer> make_character_tokenizer();

/// SentencePiece, with any model file, whether Pagoda has trained it or not.
/// Fails: IoError or DataError when the model cannot be read.
std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(const std::filesystem::path& model);

/// Tokens are Chinese words as jieba finds them (cppjieba, with its dictionary and its model for
/// unknown words). Text in other languages is split at spaces and punctuation.
/// `dictionaries` is a folder with jieba.dict.utf8 and hmm_model.utf8; empty means the one
/// installed with the program, or else the one that Pagoda was built with.
/// Fails: UsageError in a build without cppjieba; IoError when a dictionary is missing or cannot be
/// read.
std::unique_ptr<Tokenizer> make_jieba_tokenizer(const std::filesystem::path& dictionaries = {});

/// Whether make_jieba_tokenizer works in this build.
bool has_jieba();

/// The kinds of tokenizers.
enum class TokenizerKind { sentencepiece, words, characters, jieba };

/// The kind named sentencepiece, words, characters or jieba. Fails: UsageError for any other name.
TokenizerKind tokenizer_kind(std::string_view name);

/// Which tokenizer, and its options.
struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::sentencepiece;  ///< which tokenizer
  std::filesystem::path model = {};                   ///< for sentencepiece: the model file
  WordTokenizerOptions words = {};                    ///< for words
  std::filesystem::path dictionaries = {};            ///< for jieba: the folder; see above
};

/// Makes the tokenizer of that kind; see the functions above.
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options);

}  // namespace pagoda
