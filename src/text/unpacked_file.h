#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/input_file.h"

struct z_stream_s;

namespace pagoda {

/// The bytes of a file, unpacked if it is compressed with gzip, whatever its name. Several
/// compressed parts one after another are one text, as gzip has it.
///
/// Threads: one. Owns: the open file and its buffers.
/// Fails: as InputFile; DataError with the file and the byte when compressed bytes are cut or
/// damaged, or something else follows them.
class UnpackedFile {
 public:
  explicit UnpackedFile(InputFile file);
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  /// Reads some bytes, at most so many; 0 at the end.
  std::size_t read(std::span<char> bytes);

  /// Whether some bytes of the file have come that were not used yet, or its end.
  bool is_ready() const { return begin_ < end_ || file_.is_ready(); }

  /// Bytes of the file itself that were used so far.
  std::int64_t bytes_read() const;

 private:
  std::size_t unpack(std::span<char> bytes);
  std::size_t copy(std::span<char> bytes);
  bool fill(std::size_t wanted);
  bool begins_part();
  [[noreturn]] void fail(const std::string& what) const;

  InputFile file_;
  std::array<char, 1 << 16> buffer_;
  std::size_t begin_ = 0;  // of what is not used yet
  std::size_t end_ = 0;
  std::int64_t read_ = 0;  // from the file
  bool within_part_ = false;
  std::unique_ptr<z_stream_s> unpacker_;  // null while the file is not compressed
};

}  // namespace pagoda
