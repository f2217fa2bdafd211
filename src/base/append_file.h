#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace pagoda {

enum class IfThere { append, refuse };

/// A file that grows: what is appended waits in memory for `flush`, or until there is much of it.
///
/// Threads: one; `sync` may be called from another at the same time. Owns: the descriptor.
/// Fails: IoError with the path and the system's reason. What could not be written stays in memory,
/// and the next flush continues at the very byte where this one broke off.
class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path, IfThere if_there = IfThere::append,
                      std::size_t buffer_bytes = 64 * 1024);
  /// Flushes; what that throws is lost, so call `flush` before.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// First flushes if `buffer_bytes` are waiting; if that fails, these bytes are not taken, so that
  /// memory is bounded.
  void append(std::string_view bytes);

  /// Hands everything to the system: other programs see it, and it survives this one.
  void flush();

  /// Makes what was flushed durable: it survives a power cut.
  void sync() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
  const std::size_t buffer_bytes_;
  std::string buffer_;
  int descriptor_;
};

}  // namespace pagoda
