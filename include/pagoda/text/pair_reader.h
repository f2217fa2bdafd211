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

/// A source and what it should become, valid until the next is read.
struct TextPair {
  std::string_view source;  ///< what is translated
  std::string_view target;  ///< what it becomes
};

/// What a reader met, to be told to the user.
struct PairReport {
  std::int64_t pairs = 0;               ///< handed out
  std::int64_t empty = 0;               ///< left out because a side was empty
  std::int64_t bad = 0;                 ///< left out because a line could not be used
  std::vector<std::string> notes = {};  ///< the first few reasons, and files of unequal length

  /// "29,000 pairs; left out: 3 with an empty side, 1 bad line (FILE:LINE: …)".
  std::string text() const;
};

/// Pairs one at a time, in their order.
///
/// Threads: one. Fails: IoError, DataError as LineReader; DataError for a bad line, see OnBadLine.
class PairReader {
 public:
  virtual ~PairReader() = default;

  /// The next pair whose two sides are not empty; nothing at the end.
  virtual std::optional<TextPair> next() = 0;

  /// What was read and left out so far.
  virtual const PairReport& report() const { return report_; }

  /// Bytes of all files that were read so far, to show progress; 0 where there is no file.
  virtual std::int64_t bytes_read() const { return 0; }

  /// What was read so far; the role of a file is the field of PairFiles that it stands in.
  virtual std::vector<DataInput> inputs() const { return {}; }

 protected:
  PairReport report_;
};

/// Where pairs lie. Any of the three may be given, each as often as wanted; all are plain or gzip.
struct PairFiles {
  /// Line i of `source[k]` belongs to line i of `target[k]`.
  std::vector<std::filesystem::path> source = {};
  std::vector<std::filesystem::path> target = {};  ///< what each line of `source` becomes
  /// "source TAB target" a line; further columns are left out.
  std::vector<std::filesystem::path> pairs = {};
  /// Conversations: a line "E" begins a new one, each "M text" is what one side says. Each
  /// utterance is the source of the one after it.
  std::vector<std::filesystem::path> conv = {};

  /// Whether no file is named.
  bool empty() const { return source.empty() && target.empty() && pairs.empty() && conv.empty(); }
};

/// What pairs may be.
struct PairReaderOptions {
  /// Bad are lines that are not UTF-8, too long, without a tab (TSV), or neither "E" nor "M …".
  /// Aligned files of different length are an error; with `skip` the shorter one counts.
  OnBadLine on_bad_line = OnBadLine::error;
  LineReaderOptions lines = {};  ///< what lines may be
};

/// All pairs of the files, file after file.
/// Fails: UsageError when no file is given, or not as many sources as targets.
/// Example:
///     auto pairs = open_pairs({.source = {"train.en.gz"}, .target = {"train.fr.gz"}});
///     while (auto pair = pairs->next()) use(pair->source, pair->target);
///     log(pairs->report().text());
std::unique_ptr<PairReader> open_pairs(const PairFiles& files,
                                       const PairReaderOptions& options = {});

}  // namespace pagoda
