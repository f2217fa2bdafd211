#pragma once

#include <pagoda/data/data_input.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pagoda {

/// What becomes of a line that cannot be used.
enum class OnBadLine {
  error,  ///< DataError with the file and the line
  skip,   ///< it is left out and counted
};

/// What lines may be.
struct LineReaderOptions {
  std::size_t max_bytes = 1 << 20;  ///< a longer line is a bad one; it is never held in memory
  /// So many without a line's end are no text: DataError. An input may never end.
  std::size_t max_skipped_bytes = 1 << 30;
};

/// One line of a file, valid until the next is read.
struct Line {
  std::string_view text;  ///< without the line's end; empty when there is a problem
  std::int64_t number;    ///< from 1
  std::string problem;    ///< why it cannot be used; empty for a good line
};

/// The lines of a text file, plain or compressed with gzip (whatever its name), one at a time. The
/// file may be a pipe.
///
/// Lines end in LF or CRLF; the last needs no end. A byte order mark at the start is left out.
/// Lines that are not valid UTF-8, too long or with a NUL byte come with a `problem`, so that the caller can keep
/// two files in step.
///
/// Threads: one. Owns: the open file and a buffer.
/// Fails: IoError when the file cannot be opened or read, is neither a regular file nor a pipe, or is
/// a pipe that nobody writes; DataError when it is compressed and cut, damaged or followed by
/// something else, or has no line end for very long.
/// Example:
///     LineReader lines("train.en.gz");
///     while (auto line = lines.next()) use(line->text);
class LineReader {
 public:
  /// The path "-" means the standard input.
  explicit LineReader(std::filesystem::path path, const LineReaderOptions& options = {});
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// The next line; nothing at the end.
  std::optional<Line> next();

  /// Whether a line, its beginning or the end has come: `next` will hardly wait.
  bool is_ready() const;

  /// The file that it reads.
  const std::filesystem::path& path() const { return path_; }

  /// Bytes of the file that were read so far, compressed where it is.
  std::int64_t bytes_read() const;

  /// What was given as lines so far, bad ones and the lines' ends included, without compression.
  DataInput input() const;

  /// "FILE:LINE: problem", for messages.
  std::string place_of(const Line& line) const;

 private:
  struct File;

  bool fill();

  std::filesystem::path path_;
  LineReaderOptions options_;
  std::unique_ptr<File> file_;
  std::int64_t number_ = 0;
};

}  // namespace pagoda
