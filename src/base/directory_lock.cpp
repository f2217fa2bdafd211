#include "base/directory_lock.h"

#include <pagoda/base/error.h>

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace pagoda {
namespace {

std::string holder_of(int descriptor) {
  char text[32] = {};
  const ssize_t bytes = pread(descriptor, text, sizeof text - 1, 0);
  return bytes > 0 ? "process " + std::string(text) : "another process";
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / ".lock";
  descriptor_ = open_descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (descriptor_ < 0) throw_io_error("create", path);
  // Where locks are not to be had, nobody is kept out.
  if (!lock_descriptor(descriptor_, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
    const std::string holder = holder_of(descriptor_);
    close(descriptor_);
    throw UsageError(directory.string() + " is in use by " + holder +
                     "; wait until it ends, or choose another directory");
  }
  const std::string number = std::to_string(getpid());
  if (ftruncate(descriptor_, 0) == 0) {
    // The number only helps a person to find the holder.
    [[maybe_unused]] const ssize_t written = pwrite(descriptor_, number.data(), number.size(), 0);
  }
}

DirectoryLock::~DirectoryLock() { close(descriptor_); }

bool is_locked(const std::filesystem::path& directory) {
  const int descriptor = open_descriptor(directory / ".lock", O_RDONLY | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool is_held = !lock_descriptor(descriptor, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
  close(descriptor);
  return is_held;
}

}  // namespace pagoda
