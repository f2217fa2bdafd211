#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace pagoda {
namespace {

/// Without this, a rename can be lost with the directory's old content after a power cut.
void flush_directory(const std::filesystem::path& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // the rename itself has succeeded
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), temporary_(path_) {
  temporary_ += ".tmp-" + std::to_string(getpid());
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what) const {
  throw IoError(std::string("cannot ") + what + " " + path_.string() + ": " + std::strerror(errno));
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* rest = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, rest, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    rest += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) fail("flush");
  const int descriptor = std::exchange(descriptor_, -1);
  const bool closed = close(descriptor) == 0;
  if (!closed || rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary_.c_str());
    errno = reason;
    fail("replace");
  }
  flush_directory(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
}

}  // namespace pagoda
