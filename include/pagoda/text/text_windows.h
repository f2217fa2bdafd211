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

/// Appends the tokens of a line, and of the line end, to `tokens`.
using LineEncoder = std::function<void(std::string_view line, std::vector<TokenId>& tokens)>;

/// Each byte is a token, with the byte's value (0 to 255) as its number; a line end is token 10.
LineEncoder byte_encoder();

/// The token numbers of the SentencePiece model itself, as `encode(line)` returns them in Python; a
/// line end is the model's end token, if it has one.
/// Fails: IoError or DataError when the model cannot be read.
LineEncoder sentencepiece_encoder(const std::filesystem::path& model);

/// How a text becomes samples.
struct TextWindowsOptions {
  std::int64_t length = 128;      ///< tokens in a window
  std::string tokens = "tokens";  ///< name of the batch's tensor [samples, length] int64
  /// Name of a second tensor of the same shape, with the token that follows each one: what a
  /// language model predicts. Empty: no such tensor.
  std::string next = "";
};

/// Text for language models: the tokens are cut into consecutive windows, and sample i is window i.
/// A remainder that does not fill a window is left out.
///
/// Threads: any number may call `get` at once. Owns: the tokens, 4 bytes each.
/// Fails: UsageError for a length below 1, and for a sample out of range; IoError when a file
/// cannot be read; DataError, with file and line, for a line that is not text, and for a text
/// shorter than a window.
///
/// Example: `TextWindows data({"novel.txt"}, byte_encoder(), {.length = 64, .next = "next"});`
class TextWindows : public DatasetOf<NamedBatch> {
 public:
  /// Reads text files, plain or compressed with gzip; several files are one text.
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
