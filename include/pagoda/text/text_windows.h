#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/named_batch.h>
#include <pagoda/text/vocabulary.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Appends the tokens of a line, and of its end, to those of a text.
using LineEncoder = std::function<void(std::string_view line, std::vector<TokenId>& tokens)>;

/// Every byte is a token of its value, 0 to 255; a line ends in 10.
LineEncoder byte_encoder();

/// The numbers that a SentencePiece model itself gives, as `encode(line)` in Python; a line ends in the
/// model's end token where it has one.
/// Fails: IoError or DataError when the model cannot be read.
LineEncoder sentencepiece_encoder(const std::filesystem::path& model);

/// What a window is.
struct TextWindowsOptions {
  std::int64_t length = 128;      ///< tokens in a window
  std::string tokens = "tokens";  ///< name of a batch's tensor [samples, length] int64
  /// Name of another of the same shape with the token that follows each: what a language model
  /// predicts. Empty: there is none.
  std::string next = "";
};

/// Text for language models: sample i is window i of its tokens, one window beside the other. The rest
/// of the text that fills no window is left out.
///
/// Threads: any number may call `get` at once. Owns: the tokens, 4 bytes each.
/// Fails: UsageError for a length below 1; IoError; DataError with file and line for what is no text,
/// and for text that is shorter than a window.
///
/// Example: `TextWindows data({"novel.txt"}, byte_encoder(), {.length = 64, .next = "next"});`
class TextWindows : public DatasetOf<NamedBatch> {
 public:
  /// Plain text files, or compressed with gzip; several are one text.
  TextWindows(const std::vector<std::filesystem::path>& files, const LineEncoder& encode,
              const TextWindowsOptions& options);

  std::int64_t size() const override { return windows_; }
  NamedBatch get(std::span<const std::int64_t> samples, std::int64_t epoch = 0) const override;
  std::vector<DataInput> inputs() const override { return inputs_; }

 private:
  at::Tensor windows(std::span<const std::int64_t> samples, std::int64_t shift) const;

  const TextWindowsOptions options_;
  std::vector<TokenId> tokens_;
  std::vector<DataInput> inputs_;
  std::int64_t windows_ = 0;
};

}  // namespace pagoda
