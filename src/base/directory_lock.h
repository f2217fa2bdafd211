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

/// Whether a process holds the directory now. Looking takes no lock that another look could meet; a
/// start in the same microsecond is refused.
bool is_locked(const std::filesystem::path& directory);

}  // namespace pagoda
