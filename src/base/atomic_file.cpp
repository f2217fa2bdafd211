#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/descriptor.h"

// A writer holds a lock (flock) on its temporary file, which the system releases when the process
// ends. Who can lock a temporary file has therefore found one that nobody will finish.

namespace pagoda {
namespace {

constexpr std::string_view kMark = ".tmp-";

bool is_temporary_name(std::string_view name) {
  const auto mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return false;
  const std::string_view numbers = name.substr(mark + kMark.size());
  return !numbers.empty() && std::all_of(numbers.begin(), numbers.end(), [](unsigned char c) {
    return c == '-' || (c >= '0' && c <= '9');
  });
}

void remove_if_abandoned(const std::filesystem::path& path) {
  const int descriptor = open_descriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;  // a link, or gone
  struct stat found {};
  if (fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) &&
      lock_descriptor(descriptor, LOCK_EX | LOCK_NB)) {
    unlink(path.c_str());
  }
  close(descriptor);
}

/// Those whose name starts so.
void remove_abandoned(const std::filesystem::path& directory, const std::string& start) {
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(directory, missing)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(start) && is_temporary_name(name)) remove_if_abandoned(entry.path());
  }
}

/// A rename would put a file in the place of a device.
void expect_file_or_nothing(const std::filesystem::path& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return;
  if (S_ISDIR(found.st_mode)) {
    errno = EISDIR;
    throw_io_error("replace", path);
  }
  throw IoError("cannot replace " + path.string() +
                ": it is a device, a pipe or a socket; name a file");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  expect_file_or_nothing(path_);
  remove_abandoned(directory_of(path_), path_.filename().string() + std::string(kMark));
  create_temporary();
}

void AtomicFile::create_temporary() {
  static std::atomic<unsigned> count = 0;
  while (true) {
    temporary_ = path_;
    temporary_ += std::string(kMark) + std::to_string(getpid()) + "-" + std::to_string(count++);
    descriptor_ = open_descriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (descriptor_ < 0 && errno == EEXIST) continue;  // somebody else's
    if (descriptor_ < 0) throw_io_error("create", path_);
    // Where locks are not to be had, files of killed writers stay.
    if (!lock_descriptor(descriptor_, LOCK_EX) || is_linked(descriptor_)) return;
    close(descriptor_);  // it was taken for abandoned before it was locked
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  unlink(temporary_.c_str());
  close(descriptor_);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  if (write_all(descriptor_, data, bytes) != bytes) throw_io_error("write", path_);
}

void AtomicFile::commit() {
  if (!sync_descriptor(descriptor_)) throw_io_error("flush", path_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) throw_io_error("replace", path_);
  close(std::exchange(descriptor_, -1));  // flushed: what close could report was reported there
  sync_directory(directory_of(path_));
}

void write_whole_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void remove_abandoned_files(const std::filesystem::path& directory) {
  remove_abandoned(directory, "");
}

}  // namespace pagoda
