#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace pagoda {

/// A file that replaces another whole or not at all, also when the power goes out in between: it is
/// written under a temporary name beside its place ("NAME.tmp-PROCESS-COUNT"), flushed to the disk,
/// then renamed. Temporary files of the same name that killed processes left behind are removed.
///
/// A link at `path` is replaced, not followed.
///
/// Threads: one. Owns: the temporary file, which is removed unless `commit` was reached.
/// Fails: IoError with the path and the system's reason; also when there is something at `path` that
/// is no file (a device, a pipe, a directory), which is then left as it is.
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
  /// Appends a text.
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Makes what was written the file at `path`, durably.
  void commit();

 private:
  void create_temporary();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Writes a whole file as AtomicFile does.
void write_whole_file(const std::filesystem::path& path, std::string_view text);

/// Removes the temporary files in a directory whose writers were killed; those that are being
/// written stay. A directory that does not exist has none.
void remove_abandoned_files(const std::filesystem::path& directory);

}  // namespace pagoda
