#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace pagoda {

/// A file that is read from its start to its end: a regular one, or a pipe such as a FIFO or
/// `<(zcat file)`. Every wait for its opening ends, and so does what is read: other kinds of files
/// are refused, for a device may give bytes without end.
///
/// Threads: one. Owns: the descriptor.
/// Fails: IoError with the path when it cannot be opened or read, is of another kind, or is a pipe
/// that nobody opens for writing.
class InputFile {
 public:
  /// `patience`: how long the writer of a FIFO may take to open it.
  explicit InputFile(std::filesystem::path path,
                     std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// The process's standard input, of whatever kind it is.
  static InputFile standard_input();

  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  /// Reads as many bytes as there are, at most so many; 0 at the end.
  std::size_t read(std::span<char> bytes);

  /// Whether `read` would not wait.
  bool is_ready() const;

  /// What the system says; nothing for a pipe. 0 also for files whose size it does not know.
  std::optional<std::uintmax_t> size() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  InputFile(std::filesystem::path path, int descriptor);

  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace pagoda
