#include "base/descriptor.h"

#include <pagoda/base/error.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pagoda {
namespace {

/// Calls until no signal cuts the call short.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

int open_descriptor(const std::filesystem::path& path, int flags) {
  return uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
}

ssize_t read_some(int descriptor, void* data, std::size_t bytes) {
  return uninterrupted([&] { return ::read(descriptor, data, bytes); });
}

std::size_t write_all(int descriptor, const void* data, std::size_t bytes) {
  const char* start = static_cast<const char*>(data);
  std::size_t written = 0;
  while (written < bytes) {
    const ssize_t count =
        uninterrupted([&] { return ::write(descriptor, start + written, bytes - written); });
    if (count < 0) break;
    written += static_cast<std::size_t>(count);
  }
  return written;
}

bool sync_descriptor(int descriptor) {
  return uninterrupted([&] { return fsync(descriptor); }) == 0;
}

bool lock_descriptor(int descriptor, int operation) {
  return uninterrupted([&] { return flock(descriptor, operation); }) == 0;
}

bool is_linked(int descriptor) {
  struct stat found {};
  return fstat(descriptor, &found) == 0 && found.st_nlink > 0;
}

void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = open_descriptor(directory, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0 && errno == EACCES) return;  // may be written, but not looked into
  if (descriptor < 0) throw_io_error("open directory", directory);
  const bool synced = sync_descriptor(descriptor) || errno == EINVAL || errno == ENOTSUP;
  const int reason = errno;
  close(descriptor);
  errno = reason;
  if (!synced) throw_io_error("flush directory", directory);
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

namespace {

bool leads_to_directory(const std::filesystem::path& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

/// Makes the directory and those above it. Gives the one that could not be made, with the reason in
/// errno; an empty path when all are there.
std::filesystem::path first_not_made(const std::filesystem::path& directory) {
  if (leads_to_directory(directory)) return {};
  const auto above = directory_of(directory);
  if (!directory.has_filename()) return first_not_made(above);  // "runs/" is "runs"
  if (above != directory) {
    if (auto failed = first_not_made(above); !failed.empty()) return failed;
  }
  if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) return directory;
  if (!leads_to_directory(directory)) {
    errno = ENOTDIR;
    return directory;
  }
  sync_directory(above);
  return {};
}

}  // namespace

void make_directories(const std::filesystem::path& directory) {
  const auto failed = first_not_made(directory);
  if (failed.empty()) return;
  const int reason = errno;
  throw IoError("cannot create directory " + directory.string() + ": " +
                (failed == directory ? "" : failed.string() + ": ") + std::strerror(reason));
}

void throw_io_error(const char* what, const std::filesystem::path& path) {
  const int reason = errno;
  throw IoError(std::string("cannot ") + what + " " + path.string() + ": " + std::strerror(reason));
}

}  // namespace pagoda
