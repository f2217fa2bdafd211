#pragma once

#include <cstddef>
#include <filesystem>

namespace pagoda {

/// A file of a fixed size, open for reading: no pipe and no device, which may have no end.
///
/// Threads: one at a time. Owns: the descriptor.
/// Fails: IoError with the path and the reason when it cannot be opened or read, or is of another
/// kind.
class RegularFile {
 public:
  explicit RegularFile(std::filesystem::path path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }

  /// What it has now, in bytes.
  std::size_t size() const;

  /// Reads on. Less than asked for where the file ends.
  std::size_t read_into(char* memory, std::size_t bytes) const;

 private:
  const std::filesystem::path path_;
  const int descriptor_;
};

}  // namespace pagoda
