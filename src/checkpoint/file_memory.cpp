#include "checkpoint/file_memory.h"

#include <pagoda/base/error.h>

#include <cerrno>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace pagoda {
namespace {

constexpr auto kMemoryAlignment = std::align_val_t{FileMemory::kAlignment};

class OpenFile {
 public:
  /// Not blocking: a pipe without a writer is to be told, not waited for.
  explicit OpenFile(const std::filesystem::path& path)
      : path_(path), descriptor_(open_descriptor(path, O_RDONLY | O_NONBLOCK)) {
    if (descriptor_ < 0) throw_io_error("read", path_);
  }
  ~OpenFile() { close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::size_t size() const {
    struct stat found {};
    if (fstat(descriptor_, &found) != 0) throw_io_error("read", path_);
    if (S_ISDIR(found.st_mode)) errno = EISDIR, throw_io_error("read", path_);
    if (!S_ISREG(found.st_mode)) {
      throw IoError("cannot read " + path_.string() +
                    ": it is no regular file, but a pipe or a device; copy it to a file first");
    }
    return static_cast<std::size_t>(found.st_size);
  }

  /// Less than asked for where the file ends.
  std::size_t read_into(char* memory, std::size_t bytes) const {
    std::size_t filled = 0;
    while (filled < bytes) {
      const ssize_t count = read(descriptor_, memory + filled, bytes - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw_io_error("read", path_);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    return filled;
  }

 private:
  const std::filesystem::path& path_;
  int descriptor_;
};

}  // namespace

FileMemory read_file_memory(const std::filesystem::path& path) {
  const OpenFile file(path);
  const std::size_t size = file.size();
  FileMemory memory;
  memory.owner.reset(static_cast<char*>(::operator new(size, kMemoryAlignment)),
                     [](char* start) { ::operator delete(start, kMemoryAlignment); });
  memory.size = file.read_into(memory.owner.get(), size);
  return memory;
}

}  // namespace pagoda
