#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace pagoda {

/// A file that replaces another one completely or not at all, even if the power fails in between:
/// it is written under a temporary name beside its destination ("NAME.tmp-PROCESS-COUNT"), flushed
/// to disk, then renamed. Temporary files for the same destination that killed processes left
/// behind are removed.
///
/// A symbolic link at `path` is replaced, not followed.
///
/// Threads: one. Owns: the temporary file, which is removed unless `commit` succeeds.
/// Fails: IoError with the path and the system's reason; also if `path` is something other than a
/// regular file (a device, a pipe, a directory), which is then left as it is.
/// Example:
///     AtomicFile file("model.pt");
///     file.write(bytes.data(), bytes.size());
///     file.commit();
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends these bytes.
  void write(const void* data, std::size_t bytes);
  /// Appends text.
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Flushes what was written to disk and makes it the file at `path`, atomically and durably.
  void commit();

 private:
  void create_temporary();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Writes a file with this content, as AtomicFile does.
void write_whole_file(const std::filesystem::path& path, std::string_view text);

/// Removes the temporary files in a directory whose writers were killed; those still being written
/// stay. Does nothing if the directory does not exist.
void remove_abandoned_files(const std::filesystem::path& directory);

}  // namespace pagoda
