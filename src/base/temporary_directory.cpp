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
  struct stat found {};
  return fstat(descriptor, &found) == 0 && found.st_uid == geteuid();
}

void remove_if_unused(const std::filesystem::path& path) {
  const int descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (descriptor < 0) return;
  if (is_ours(descriptor) && lock_descriptor(descriptor, LOCK_EX | LOCK_NB)) {
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
    // Where locks are not to be had, directories of killed processes stay.
    if (!lock_descriptor(lock_, LOCK_EX) || is_linked(lock_)) return;
    close(lock_);  // it was taken for abandoned before it was locked
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace pagoda
