#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/regular_file.h"

namespace pagoda {

/// A file's bytes where the system's file cache has them: nothing is read before it is looked at,
/// and what is not looked at for long need not stay in memory. The memory may be written to; the
/// file does not change by that.
///
/// Who uses it over a long time calls `check_whole` before each use: bytes that somebody has cut off
/// the file meanwhile end the process when they are looked at. (A file that is replaced, as
/// AtomicFile does, stays as it was.)
///
/// Threads: any. Owns: the mapping and the descriptor; `bytes` live as long as it.
/// Fails: IoError with the path and the reason when it cannot be mapped or is no regular file.
class MappedFile {
 public:
  explicit MappedFile(std::filesystem::path path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::filesystem::path& path() const { return file_.path(); }
  std::string_view bytes() const { return {start_, size_}; }

  /// Fails: IoError when the file has another size than it had.
  void check_whole() const;

 private:
  const RegularFile file_;
  const std::size_t size_;
  char* start_ = nullptr;
};

}  // namespace pagoda
