#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/append_file.h"

namespace pagoda {

/// A new file of records, framed as in TensorFlow's TFRecord: length, checksum of the length,
/// bytes, checksum of the bytes. Records are collected and appended in large pieces.
///
/// Threads: one at a time. Owns: the open file, which it flushes at the end as far as that works.
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
  RecordFile(const std::filesystem::path& path, std::size_t buffer_bytes);

  /// Collects a record. First flushes if `buffer_bytes` are collected; if that fails, the record is
  /// not taken, so that memory is bounded.
  void append(std::string_view record);

  void flush() { file_.flush(); }

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  AppendFile file_;
};

}  // namespace pagoda
