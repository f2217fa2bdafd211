#include "checkpoint/zip_check.h"

#include <pagoda/base/error.h>

#include <cstdint>

#include <zlib.h>

// Layout: .ZIP File Format Specification (PKWARE APPNOTE 6.3), sections 4.3.7 to 4.5.3. LibTorch
// writes ZIP64 records for everything, so sizes and offsets of 0xFFFFFFFF are looked up in the
// extra field.

namespace pagoda {
namespace {

class ZipReader {
 public:
  ZipReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  void check() const {
    const Directory directory = find_directory();
    std::uint64_t at = directory.offset;
    for (std::uint64_t entry = 0; entry < directory.entries; ++entry) at = check_entry(at);
  }

 private:
  struct Directory {
    std::uint64_t offset;
    std::uint64_t entries;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(name_ + " is damaged: " + what + "; use another copy or an older checkpoint");
  }

  std::uint64_t number(std::uint64_t at, int width) const {
    if (at > bytes_.size() || bytes_.size() - at < static_cast<std::uint64_t>(width)) {
      fail("it ends at byte " + std::to_string(bytes_.size()) + ", in the middle of a record");
    }
    std::uint64_t value = 0;
    for (int i = width - 1; i >= 0; --i)
      value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  bool has_signature(std::uint64_t at, std::uint32_t signature) const {
    return at + 4 <= bytes_.size() && number(at, 4) == signature;
  }

  Directory find_directory() const {
    constexpr std::uint64_t kEndBytes = 22;
    constexpr std::uint64_t kLocatorBytes = 20;
    if (bytes_.size() < kEndBytes) fail("it has only " + std::to_string(bytes_.size()) + " bytes");
    const std::uint64_t end = bytes_.size() - kEndBytes;
    if (!has_signature(end, 0x06054b50))
      fail("its end is missing (cut off while it was written or copied?)");
    if (end >= kLocatorBytes && has_signature(end - kLocatorBytes, 0x07064b50)) {
      const std::uint64_t at = number(end - kLocatorBytes + 8, 8);
      if (!has_signature(at, 0x06064b50)) fail("its directory is not where it should be");
      return {.offset = number(at + 48, 8), .entries = number(at + 32, 8)};
    }
    return {.offset = number(end + 16, 4), .entries = number(end + 10, 2)};
  }

  /// Reads the 64-bit values of a directory entry's ZIP64 extra field, in their order.
  std::uint64_t wide(std::uint64_t value, std::uint64_t& extra) const {
    if (value != 0xFFFFFFFF) return value;
    extra += 8;
    return number(extra - 8, 8);
  }

  std::uint64_t find_wide_field(std::uint64_t at, std::uint64_t end) const {
    while (at + 4 <= end) {
      if (number(at, 2) == 1) return at + 4;
      at += 4 + number(at + 2, 2);
    }
    return end;
  }

  /// Whether an entry itself has the size and the checksum of the directory, in its header or
  /// behind its data. Where the directory's were lost, no data and no checksum would fit each
  /// other.
  bool agrees(std::uint64_t local, std::uint64_t data, std::uint64_t size,
              std::uint64_t checksum) const {
    constexpr std::uint64_t kBehindData = 0x8;
    if ((number(local + 6, 2) & kBehindData) == 0) {
      return number(local + 14, 4) == checksum &&
             (number(local + 22, 4) == size || size >= 0xFFFFFFFF);
    }
    const std::uint64_t end = data + size;
    return has_signature(end, 0x08074b50) && number(end + 4, 4) == checksum &&
           ((number(end + 8, 4) == size && number(end + 12, 4) == size) ||
            (number(end + 8, 8) == size && number(end + 16, 8) == size));
  }

  std::uint64_t check_entry(std::uint64_t at) const {
    constexpr std::uint64_t kEntryBytes = 46;
    constexpr std::uint64_t kLocalBytes = 30;
    if (!has_signature(at, 0x02014b50))
      fail("its directory is broken at byte " + std::to_string(at));
    const std::uint64_t name_bytes = number(at + 28, 2);
    const std::uint64_t extra_at = at + kEntryBytes + name_bytes;
    const std::uint64_t extra_end = extra_at + number(at + 30, 2);
    const std::uint64_t next = extra_end + number(at + 32, 2);
    number(next, 0);  // throws unless everything up to here is in the file
    const std::string entry(bytes_.substr(at + kEntryBytes, name_bytes));

    std::uint64_t extra = find_wide_field(extra_at, extra_end);
    const std::uint64_t size = wide(number(at + 24, 4), extra);
    const std::uint64_t stored = wide(number(at + 20, 4), extra);
    const std::uint64_t local = wide(number(at + 42, 4), extra);
    if (number(at + 10, 2) != 0 || stored != size) fail("entry '" + entry + "' is compressed");
    // LibTorch reads nothing for a directory, and leaves the tensor's memory as it was.
    constexpr std::uint64_t kDirectoryBit = 0x10;
    if ((number(at + 38, 4) & kDirectoryBit) != 0)
      fail("entry '" + entry + "' is marked as a directory");
    if (!has_signature(local, 0x04034b50)) fail("entry '" + entry + "' is not where it should be");
    const std::uint64_t data = local + kLocalBytes + number(local + 26, 2) + number(local + 28, 2);
    if (data > bytes_.size() || bytes_.size() - data < size)
      fail("entry '" + entry + "' is cut off");
    const std::uint64_t checksum = number(at + 16, 4);
    const auto* start = reinterpret_cast<const Bytef*>(bytes_.data() + data);
    if (crc32_z(crc32(0, nullptr, 0), start, size) != checksum)
      fail("the checksum of entry '" + entry + "' is wrong");
    if (!agrees(local, data, size, checksum))
      fail("entry '" + entry + "' is not what the directory says");
    return next;
  }

  std::string_view bytes_;
  const std::string& name_;
};

}  // namespace

void check_zip(std::string_view bytes, const std::string& name) { ZipReader(bytes, name).check(); }

}  // namespace pagoda
