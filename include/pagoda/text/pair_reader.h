#pragma once

#include <pagoda/text/line_reader.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// A source sentence and its translation, valid until the next pair is read.
struct TextPair {
  std::string_view source;  ///< the text to translate
  std::string_view target;  ///< its translation
};

/// What a reader has found, for the user.
struct PairReport {
  std::int64_t pairs = 0;               ///< pairs returned
  std::int64_t empty = 0;               ///< pairs left out because a side was blank
  std::int64_t bad = 0;                 ///< lines that could not be used; their pairs are left out
  std::vector<std::string> notes = {};  ///< the first few bad lines and files of unequal length

  /// "29,000 pairs; left out: 3 with an empty side, 1 with a bad line; FILE:LINE: …".
  std::string text() const;
};

/// Reads pairs one at a time, in order.
///
/// Threads: one at a time.
/// Fails: IoError and DataError as LineReader does; DataError for a bad line, see OnBadLine.
class PairReader {
 public:
  virtual ~PairReader() = default;

  /// The next pair; nothing at the end. Readers of files leave out pairs with a blank side.
  virtual std::optional<TextPair> next() = 0;

  /// What was returned and left out so far.
  virtual const PairReport& report() const { return report_; }

  /// Bytes read so far from all files, to show progress; 0 if there is no file.
  virtual std::int64_t bytes_read() const { return 0; }

  /// The inputs read so far; the role of a file is the name of its field in PairFiles.
  virtual std::vector<DataInput> inputs() const { return {}; }

 protected:
  PairReport report_;
};

/// The files with the pairs, plain or gzip. The three kinds (source and target, pairs,
/// conversations) can be combined, with any number of files of each.
struct PairFiles {
  /// Line i of `source[k]` is translated by line i of `target[k]`.
  std::vector<std::filesystem::path> source = {};
  std::vector<std::filesystem::path> target = {};  ///< the translations of `source`
  /// One pair per line, "source TAB target"; further columns are ignored.
  std::vector<std::filesystem::path> pairs = {};
  /// Conversations: a line "E" begins a new one, and each line "M text" is an utterance, which is
  /// the source of the one after it.
  std::vector<std::filesystem::path> conv = {};

  /// Whether no file is given.
  bool empty() const { return source.empty() && target.empty() && pairs.empty() && conv.empty(); }
};

/// How strictly pairs are read.
struct PairReaderOptions {
  /// A line is bad if it is too long, is not UTF-8 or contains a NUL byte, has no tab (in `pairs`),
  /// or is neither "E" nor "M …" (in `conv`). Aligned files of different length are an error, too;
  /// with `skip`, the lines that both have are used.
  OnBadLine on_bad_line = OnBadLine::error;
  LineReaderOptions lines = {};  ///< how long lines may be
};

/// Reads all pairs of the files, one file after another.
/// Fails: UsageError when no file is given, or the numbers of source and target files differ.
/// Example:
///     auto pairs = open_pairs({.source = {"train.en.gz"}, .target = {"train.fr.gz"}});
///     while (auto pair = pairs->next()) use(pair->source, pair->target);
///     log(pairs->report().text());
std::unique_ptr<PairReader> open_pairs(const PairFiles& files,
                                       const PairReaderOptions& options = {});

}  // namespace pagoda
