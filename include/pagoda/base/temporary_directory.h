#pragma once

#include <filesystem>
#include <string>

namespace pagoda {

/// A new directory in the system's place for temporary files (TMPDIR, or /tmp), removed on
/// destruction with everything in it. Directories for the same purpose that killed processes of the
/// same user left behind are removed first.
///
/// Owns: the directory, and a lock on it that tells other processes that it is in use.
/// Fails: IoError with the path and the system's reason.
/// Example:
///     const TemporaryDirectory scratch("vocabulary");  // /tmp/pagoda-vocabulary-x8Gh2k
///     train_sentencepiece(lines, scratch.path() / "joint.model", options);
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& purpose);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  /// The directory's path.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace pagoda
