#include "text/unpacked_file.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <zlib.h>

namespace pagoda {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;  // inflateInit2's way to say so
constexpr std::string_view kGzipMark = "\x1F\x8B";

}  // namespace

UnpackedFile::UnpackedFile(InputFile file) : file_(std::move(file)) {
  if (!begins_part()) return;
  auto unpacker = std::make_unique<z_stream>();
  if (inflateInit2(unpacker.get(), kGzipOnly) != Z_OK) throw std::bad_alloc();
  unpacker_ = std::move(unpacker);
}

UnpackedFile::~UnpackedFile() {
  if (unpacker_) inflateEnd(unpacker_.get());
}

std::int64_t UnpackedFile::bytes_read() const {
  return read_ - static_cast<std::int64_t>(end_ - begin_);
}

std::size_t UnpackedFile::read(std::span<char> bytes) {
  return unpacker_ ? unpack(bytes) : copy(bytes);
}

std::size_t UnpackedFile::copy(std::span<char> bytes) {
  if (!fill(1)) return 0;
  const std::size_t count = std::min(bytes.size(), end_ - begin_);
  std::memcpy(bytes.data(), buffer_.data() + begin_, count);
  begin_ += count;
  return count;
}

std::size_t UnpackedFile::unpack(std::span<char> bytes) {
  z_stream& unpacker = *unpacker_;
  unpacker.next_out = reinterpret_cast<Bytef*>(bytes.data());
  unpacker.avail_out = static_cast<uInt>(bytes.size());
  while (unpacker.avail_out == bytes.size()) {
    if (!within_part_) {
      if (!fill(1)) return 0;
      if (!begins_part()) fail("something else follows the compressed text");
      inflateReset(&unpacker);
      within_part_ = true;
    }
    if (!fill(1)) fail("the compressed text is cut");
    unpacker.next_in = reinterpret_cast<Bytef*>(buffer_.data() + begin_);
    unpacker.avail_in = static_cast<uInt>(end_ - begin_);
    const int code = inflate(&unpacker, Z_NO_FLUSH);
    begin_ = end_ - unpacker.avail_in;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      fail("the compressed text is damaged");
    within_part_ = code != Z_STREAM_END;
  }
  return bytes.size() - unpacker.avail_out;
}

/// Whether what comes next begins as compressed bytes do.
bool UnpackedFile::begins_part() {
  return fill(kGzipMark.size()) &&
         std::string_view(buffer_.data() + begin_, kGzipMark.size()) == kGzipMark;
}

/// Reads on until so many bytes are there; false if the file ends before.
bool UnpackedFile::fill(std::size_t wanted) {
  while (end_ - begin_ < wanted) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    const std::size_t count = file_.read(std::span(buffer_).subspan(end_));
    if (count == 0) return false;
    end_ += count;
    read_ += static_cast<std::int64_t>(count);
  }
  return true;
}

void UnpackedFile::fail(const std::string& what) const {
  throw DataError(file_.path().string() + ", byte " + std::to_string(bytes_read() + 1) + ": " +
                  what + "; fetch the file again");
}

}  // namespace pagoda
