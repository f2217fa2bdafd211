#include "watched_path.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Raw system calls: the library's own functions of these names count calls.
namespace chaos {
namespace {

std::string link_target(const std::string& link) {
  char target[4096];
  const long size = syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), target, sizeof target);
  return size <= 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

/// Without "." and doubled or trailing slashes, and with ".." applied.
std::string plain(const std::string& path) {
  std::string result;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part == "..") {
      result.erase(std::min(result.rfind('/'), result.size()));
    } else if (!part.empty() && part != ".") {
      result += '/' + part;
    }
    begin = end + 1;
  }
  return result.empty() ? "/" : result;
}

FileFact fact(int directory, const char* path, int flags) {
  struct stat state;
  if (syscall(SYS_newfstatat, directory, path, &state, flags) != 0) return {};
  return {.exists = true,
          .is_directory = S_ISDIR(state.st_mode),
          .inode = state.st_ino,
          .size = state.st_size};
}

}  // namespace

std::string absolute_path(int directory, const char* path) {
  if (path == nullptr) return {};
  if (*path == '/') return plain(path);
  const std::string base =
      directory == AT_FDCWD ? link_target("/proc/self/cwd") : path_of(directory);
  return plain(base + '/' + path);
}

std::string path_of(int descriptor) {
  return link_target("/proc/self/fd/" + std::to_string(descriptor));
}

FileFact fact_of(const std::string& path) {
  return fact(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW);
}

FileFact fact_of(int descriptor) { return fact(descriptor, "", AT_EMPTY_PATH); }

std::string bytes_of(int descriptor, long offset, std::size_t bytes) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const long again = syscall(SYS_openat, AT_FDCWD, link.c_str(), O_RDONLY | O_CLOEXEC);
  if (again < 0) return {};
  std::string found(bytes, '\0');
  const long got = syscall(SYS_pread64, again, found.data(), bytes, offset);
  syscall(SYS_close, again);
  found.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return found;
}

}  // namespace chaos
