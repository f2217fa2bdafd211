#include "base/regular_file.h"

#include <pagoda/base/error.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/descriptor.h"

namespace pagoda {

// Not blocking: a pipe without a writer is to be told, not waited for.
RegularFile::RegularFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(open_descriptor(path_, O_RDONLY | O_NONBLOCK)) {
  if (descriptor_ < 0) throw_io_error("read", path_);
}

RegularFile::~RegularFile() { close(descriptor_); }

std::size_t RegularFile::size() const {
  struct stat found {};
  if (fstat(descriptor_, &found) != 0) throw_io_error("read", path_);
  if (S_ISDIR(found.st_mode)) errno = EISDIR, throw_io_error("read", path_);
  if (!S_ISREG(found.st_mode)) {
    throw IoError("cannot read " + path_.string() +
                  ": it is no regular file, but a pipe or a device; copy it to a file first");
  }
  return static_cast<std::size_t>(found.st_size);
}

std::size_t RegularFile::read_into(char* memory, std::size_t bytes) const {
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t count = read_some(descriptor_, memory + filled, bytes - filled);
    if (count < 0) throw_io_error("read", path_);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

}  // namespace pagoda
