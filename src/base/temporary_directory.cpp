#include <pagoda/base/error.h>
#include <pagoda/base/temporary_directory.h>

#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

// As with AtomicFile's temporary files, a lock tells those in use from the abandoned ones.

namespace pagoda {
namespace {

std::filesystem::path place() {
  std::error_code error;
  auto directory = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* chosen = std::getenv("TMPDIR");
    throw IoError(
        "there is no directory for temporary files: " + std::string(chosen ? chosen : "/tmp") +
        ": " + error.message() + "; set TMPDIR to one that exists");
  }
  return directory;
}

bool is_ours(int descriptor) {
  struct stat found{};
  return fstat(descriptor, &found) == 0 && found.st_uid == geteuid();
}

void remove_if_unused(const std::filesystem::path& path) {
  const int descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (descriptor < 0) return;
  if (is_ours(descriptor) && flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  close(descriptor);
}

void remove_unused(const std::filesystem::path& directory, const std::string& start) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename();
    if (name.size() == start.size() + 6 && name.starts_with(start)) remove_if_unused(entry.path());
  }
}

/// Whether it is locked and still there: somebody may have taken it for abandoned just before.
bool is_held(int descriptor) {
  struct stat found{};
  return flock(descriptor, LOCK_EX) == 0 && fstat(descriptor, &found) == 0 && found.st_nlink > 0;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory(const std::string& purpose) {
  const auto directory = place();
  const std::string start = "pagoda-" + purpose + "-";
  remove_unused(directory, start);
  while (true) {
    std::string name = directory / (start + "XXXXXX");
    if (mkdtemp(name.data()) == nullptr) throw_io_error("create", name);
    path_ = name;
    lock_ = open_descriptor(path_, O_RDONLY | O_DIRECTORY);
    if (lock_ < 0) throw_io_error("open", path_);
    if (is_held(lock_)) return;
    close(lock_);
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace pagoda
