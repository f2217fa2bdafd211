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

/// What to do about a line that cannot be used.
enum class OnBadLine {
  error,  ///< throw DataError, with the file and the line
  skip,   ///< leave it out and count it
};

/// How long lines may be.
struct LineReaderOptions {
  std::size_t max_bytes = 1 << 20;  ///< a longer line is bad, and is never held in memory
  /// More bytes than this without a line end are a DataError: the input is probably not text, and
  /// may be endless.
  std::size_t max_skipped_bytes = 1 << 30;
};

/// One line of a file. Its text is valid until the next line is read.
struct Line {
  std::string_view text;  ///< without the line end; empty when there is a problem
  std::int64_t number;    ///< from 1
  std::string problem;    ///< why the line cannot be used; empty for a good one
};

/// Reads the lines of a text file, plain or compressed with gzip (whatever its name), one at a
/// time. The file may be a pipe.
///
/// Lines end in LF or CRLF; the last one needs no line end. A byte order mark at the start is left
/// out. A line that is too long, is not valid UTF-8 or contains a NUL byte is returned with a
/// `problem` rather than skipped, so that the caller can keep two files aligned.
///
/// Threads: one at a time. Owns: the open file and a buffer.
/// Fails: IoError when the file cannot be opened or read, is neither a regular file nor a pipe, or
/// is a pipe without a writer; DataError when compressed data is truncated, damaged or followed by
/// something else, and when no line end comes within `max_skipped_bytes`.
/// Example:
///     LineReader lines("train.en.gz");
///     while (auto line = lines.next()) use(line->text);
class LineReader {
 public:
  /// The path "-" means standard input.
  explicit LineReader(std::filesystem::path path, const LineReaderOptions& options = {});
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// The next line; nothing at the end of the file.
  std::optional<Line> next();

  /// Whether a line, the beginning of one or the end of the file has arrived, so that `next` will
  /// hardly have to wait.
  bool is_ready() const;

  /// The file that it reads.
  const std::filesystem::path& path() const { return path_; }

  /// Bytes of the file read so far; of a compressed file, compressed bytes.
  std::int64_t bytes_read() const;

  /// Size and checksum of the uncompressed text returned so far, with bad lines and line ends.
  DataInput input() const;

  /// "FILE:LINE: problem", for error messages.
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
