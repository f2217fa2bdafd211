#include "events/record_file.h"

#include <pagoda/base/error.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "events/crc32c.h"

namespace pagoda {
namespace {

template <class Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  return bytes;
}

}  // namespace

RecordFile::RecordFile(std::filesystem::path path, std::size_t buffer_bytes)
    : path_(std::move(path)), buffer_bytes_(buffer_bytes) {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("create");
}

RecordFile::~RecordFile() {
  try {
    flush();
  } catch (const Error&) {
    // A destructor has nobody to tell; who wants to know calls flush.
  }
  close(descriptor_);
}

void RecordFile::fail(const char* what) const {
  throw IoError(std::string("cannot ") + what + " " + path_.string() + ": " + std::strerror(errno));
}

void RecordFile::append(std::string_view record) {
  if (buffer_.size() >= buffer_bytes_) flush();
  const std::string length = little_endian(static_cast<std::uint64_t>(record.size()));
  buffer_ += length;
  buffer_ += little_endian(masked_crc32c(length));
  buffer_ += record;
  buffer_ += little_endian(masked_crc32c(record));
}

void RecordFile::flush() {
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = ::write(descriptor_, buffer_.data() + written, buffer_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int reason = errno;
      buffer_.erase(0, written);
      errno = reason;
      fail("write");
    }
    written += static_cast<std::size_t>(count);
  }
  buffer_.clear();
}

}  // namespace pagoda
