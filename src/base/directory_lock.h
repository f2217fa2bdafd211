#pragma once

#include <filesystem>

namespace pagoda {

/// Keeps a second run out of a directory for as long as it lives, also across processes. The system
/// releases it when the process ends, however it ends.
///
/// Fails: UsageError when another process holds it, with that process's number; IoError when the
/// lock file cannot be made.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace pagoda
