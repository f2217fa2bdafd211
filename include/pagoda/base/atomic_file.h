#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace pagoda {

/// A file that replaces another whole or not at all, also when the power goes out in between: it is
/// written under a temporary name beside its place, flushed to the disk, then renamed.
///
/// Threads: one. Owns: the temporary file, which is removed unless `commit` was reached.
/// Fails: IoError with the path and the system's reason.
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

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Makes what was written the file at `path`, durably.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace pagoda
