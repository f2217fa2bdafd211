#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace pagoda {

/// A new file of records, framed as in TensorFlow's TFRecord: length, checksum of the length,
/// bytes, checksum of the bytes. Records are collected and appended in large pieces.
///
/// Threads: one at a time. Owns: the file's descriptor; the file stays.
/// Fails: IoError with the path and the system's reason; the constructor also when the file exists.
/// After a failed write the rest of the buffer stays, and the next write continues at the very byte
/// where it broke off: the file never holds a damaged record before a good one, also for a reader
/// that has already seen half of it.
///
/// Example:
///     RecordFile file("events", 64 << 10);
///     file.append("first");
///     file.flush();
class RecordFile {
 public:
  RecordFile(std::filesystem::path path, std::size_t buffer_bytes);
  ~RecordFile();  // flushes what can be written
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Collects a record. First flushes if `buffer_bytes` are collected; if that fails, the record is
  /// not taken, so that memory is bounded.
  void append(std::string_view record);

  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what) const;

  const std::filesystem::path path_;
  const std::size_t buffer_bytes_;
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace pagoda
