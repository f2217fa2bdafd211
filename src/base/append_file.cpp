#include "base/append_file.h"

#include <pagoda/base/error.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "base/descriptor.h"

namespace pagoda {

AppendFile::AppendFile(std::filesystem::path path, IfThere if_there, std::size_t buffer_bytes)
    : path_(std::move(path)),
      buffer_bytes_(buffer_bytes),
      descriptor_(open_descriptor(path_, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
                                             (if_there == IfThere::refuse ? O_EXCL : 0))) {
  if (descriptor_ < 0) throw_io_error(if_there == IfThere::refuse ? "create" : "open", path_);
}

AppendFile::~AppendFile() {
  try {
    flush();
  } catch (const Error&) {
    // A destructor has nobody to tell; who wants to know calls flush.
  }
  close(descriptor_);
}

void AppendFile::append(std::string_view bytes) {
  if (buffer_.size() >= buffer_bytes_) flush();
  buffer_ += bytes;
}

void AppendFile::flush() {
  const std::size_t written = write_all(descriptor_, buffer_.data(), buffer_.size());
  const bool is_whole = written == buffer_.size();
  const int reason = errno;
  buffer_.erase(0, written);
  errno = reason;
  if (!is_whole) throw_io_error("write", path_);
}

void AppendFile::sync() const {
  if (!sync_descriptor(descriptor_)) throw_io_error("flush", path_);
}

}  // namespace pagoda
