#include "base/zip_archive.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <array>

#include <zlib.h>

#include "base/quoted_text.h"

// Layout: .ZIP File Format Specification (PKWARE APPNOTE 6.3), sections 4.3.7 to 4.5.3. LibTorch
// writes ZIP64 records for everything, so sizes and offsets of 0xFFFFFFFF are looked up in the
// extra field.

namespace pagoda {
namespace {

constexpr std::uint64_t kStored = 0;
constexpr std::uint64_t kDeflated = 8;
constexpr std::uint64_t kMaxInflatedBytes = std::uint64_t{64} << 20;  // of all records together

class ZipReader {
 public:
  ZipReader(std::string_view bytes, const std::string& name, ZipArchive::Compressed compressed)
      : bytes_(bytes), name_(name), compressed_(compressed) {}

  std::vector<ZipArchive::Record> read() {
    const Directory directory = find_directory();
    std::vector<Entry> entries = read_directory(directory);
    check_apart(entries, directory);
    std::vector<ZipArchive::Record> records;
    for (const Entry& entry : entries) {
      check_content(entry);
      records.push_back({entry.name, bytes_.substr(entry.data, entry.stored)});
    }
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    const auto twice =
        std::adjacent_find(records.begin(), records.end(),
                           [](const auto& a, const auto& b) { return a.name == b.name; });
    if (twice != records.end()) fail("it has two entries " + quoted_text(twice->name));
    return records;
  }

 private:
  struct Directory {
    std::uint64_t offset;
    std::uint64_t end;
    std::uint64_t entries;
  };

  /// One record as the directory describes it.
  struct Entry {
    std::string_view name;
    std::uint64_t method;
    std::uint64_t checksum;
    std::uint64_t stored = 0;
    std::uint64_t size = 0;
    std::uint64_t local = 0;  // where its own header begins
    std::uint64_t data = 0;   // where its bytes begin
    std::uint64_t end = 0;    // of what follows them
  };

  struct Span {
    std::uint64_t begin;
    std::uint64_t end;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(name_ + " is damaged: " + what + "; use another copy");
  }

  [[noreturn]] void fail(const Entry& entry, const std::string& what) const {
    fail("entry " + quoted_text(entry.name) + " " + what);
  }

  bool is_inside(std::uint64_t at, std::uint64_t size) const {
    return at <= bytes_.size() && bytes_.size() - at >= size;
  }

  std::uint64_t number(std::uint64_t at, int width) const {
    if (!is_inside(at, static_cast<std::uint64_t>(width))) {
      fail("it ends at byte " + std::to_string(bytes_.size()) + ", in the middle of a record");
    }
    std::uint64_t value = 0;
    for (int i = width - 1; i >= 0; --i)
      value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  bool has_signature(std::uint64_t at, std::uint32_t signature) const {
    return is_inside(at, 4) && number(at, 4) == signature;
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
      return {.offset = number(at + 48, 8), .end = at, .entries = number(at + 32, 8)};
    }
    return {.offset = number(end + 16, 4), .end = end, .entries = number(end + 10, 2)};
  }

  std::vector<Entry> read_directory(const Directory& directory) const {
    std::vector<Entry> entries;
    std::uint64_t at = directory.offset;
    for (std::uint64_t i = 0; i < directory.entries; ++i) entries.push_back(read_entry(at));
    if (at != directory.end) fail_directory(at);
    return entries;
  }

  [[noreturn]] void fail_directory(std::uint64_t at) const {
    fail("its directory is broken at byte " + std::to_string(at));
  }

  /// Moves `at` to the next entry.
  Entry read_entry(std::uint64_t& at) const {
    constexpr std::uint64_t kEntryBytes = 46;
    if (!has_signature(at, 0x02014b50)) fail_directory(at);
    const std::uint64_t name_bytes = number(at + 28, 2);
    const std::uint64_t extra_at = at + kEntryBytes + name_bytes;
    const std::uint64_t extra_end = extra_at + number(at + 30, 2);
    const std::uint64_t next = extra_end + number(at + 32, 2);
    number(next, 0);  // throws unless everything up to here is in the archive
    Entry entry{.name = bytes_.substr(at + kEntryBytes, name_bytes),
                .method = number(at + 10, 2),
                .checksum = number(at + 16, 4)};
    Span extra = find_wide_field({extra_at, extra_end});
    entry.size = wide(entry, number(at + 24, 4), extra);
    entry.stored = wide(entry, number(at + 20, 4), extra);
    entry.local = wide(entry, number(at + 42, 4), extra);
    check_kind(entry, number(at + 38, 4));
    find_data(entry);
    at = next;
    return entry;
  }

  Span find_wide_field(Span extra) const {
    while (extra.end - extra.begin >= 4) {
      const std::uint64_t size = number(extra.begin + 2, 2);
      const bool is_wide = number(extra.begin, 2) == 1;
      extra.begin += 4;
      if (size > extra.end - extra.begin) break;
      if (is_wide) return {extra.begin, extra.begin + size};
      extra.begin += size;
    }
    return {extra.end, extra.end};
  }

  /// The 64-bit values of the ZIP64 field stand in the order in which they are asked for.
  std::uint64_t wide(const Entry& entry, std::uint64_t value, Span& extra) const {
    if (value != 0xFFFFFFFF) return value;
    if (extra.end - extra.begin < 8) fail(entry, "lacks a 64-bit number");
    extra.begin += 8;
    return number(extra.begin - 8, 8);
  }

  void check_kind(const Entry& entry, std::uint64_t attributes) const {
    const bool may_be_deflated = compressed_ == ZipArchive::Compressed::check;
    if (entry.method == kStored ? entry.stored != entry.size
                                : entry.method != kDeflated || !may_be_deflated) {
      throw DataError(name_ + ": entry " + quoted_text(entry.name) +
                      " is compressed, as none is that torch.save or numpy.savez writes; save it "
                      "again without compression");
    }
    // LibTorch reads nothing for a directory, and leaves the tensor's memory as it was.
    constexpr std::uint64_t kDirectoryBit = 0x10;
    if ((attributes & kDirectoryBit) != 0) fail(entry, "is marked as a directory");
  }

  /// Looks at the record's own header, and at what follows its bytes.
  void find_data(Entry& entry) const {
    constexpr std::uint64_t kLocalBytes = 30;
    if (!has_signature(entry.local, 0x04034b50)) fail(entry, "is not where it should be");
    const std::uint64_t name_at = entry.local + kLocalBytes;
    const std::uint64_t name_bytes = number(entry.local + 26, 2);
    entry.data = name_at + name_bytes + number(entry.local + 28, 2);
    if (!is_inside(entry.data, entry.stored)) fail(entry, "is cut off");
    entry.end = entry.data + entry.stored + descriptor_bytes(entry);
    if (bytes_.substr(name_at, name_bytes) != entry.name ||
        number(entry.local + 8, 2) != entry.method) {
      fail(entry, "is not what the directory says");
    }
  }

  /// Checks that the record itself has the size and the checksum of the directory, in its header or
  /// in a descriptor behind its data, whose size is returned. Where the directory's were lost, no
  /// data and no checksum would fit each other.
  std::uint64_t descriptor_bytes(const Entry& entry) const {
    constexpr std::uint64_t kBehindData = 0x8;
    const std::uint64_t local = entry.local;
    if ((number(local + 6, 2) & kBehindData) == 0) {
      if (number(local + 14, 4) == entry.checksum &&
          (own_size(entry) == entry.size || entry.size >= 0xFFFFFFFF))
        return 0;
    } else if (const std::uint64_t at = entry.data + entry.stored;
               has_signature(at, 0x08074b50) && number(at + 4, 4) == entry.checksum) {
      if (number(at + 8, 4) == entry.stored && number(at + 12, 4) == entry.size) return 16;
      if (number(at + 8, 8) == entry.stored && number(at + 16, 8) == entry.size) return 24;
    }
    fail(entry, "is not what the directory says");
  }

  /// What the record's own header says: in a ZIP64 field, which numpy writes for small records too,
  /// where it is told to look there.
  std::uint64_t own_size(const Entry& entry) const {
    const std::uint64_t size = number(entry.local + 22, 4);
    if (size != 0xFFFFFFFF) return size;
    const Span extra = find_wide_field({entry.data - number(entry.local + 28, 2), entry.data});
    return extra.end - extra.begin < 8 ? size : number(extra.begin, 8);
  }

  /// Records that share bytes would multiply the work, and are nothing that anybody writes.
  void check_apart(std::vector<Entry>& entries, const Directory& directory) const {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.local < b.local; });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::uint64_t limit = i + 1 < entries.size() ? entries[i + 1].local : directory.offset;
      if (entries[i].end > limit) fail(entries[i], "overlaps what comes after it");
    }
  }

  void check_content(const Entry& entry) {
    const auto* start = reinterpret_cast<const Bytef*>(bytes_.data() + entry.data);
    const std::uint64_t found =
        entry.method == kStored ? crc32_z(0, start, entry.size) : inflated_checksum(entry);
    if (found != entry.checksum)
      fail("the checksum of entry " + quoted_text(entry.name) + " is wrong");
  }

  std::uint64_t inflated_checksum(const Entry& entry) {
    inflated_bytes_ += entry.size;
    if (entry.size > kMaxInflatedBytes || inflated_bytes_ > kMaxInflatedBytes)
      fail(entry, "is larger than any source text");
    z_stream stream{};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes_.data() + entry.data));
    stream.avail_in = static_cast<uInt>(std::min(entry.stored, kMaxInflatedBytes));
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    std::array<Bytef, 16 * 1024> piece;
    uLong checksum = crc32(0, nullptr, 0);
    int state = Z_OK;
    while (state == Z_OK && stream.total_out <= entry.size) {
      stream.next_out = piece.data();
      stream.avail_out = piece.size();
      state = inflate(&stream, Z_NO_FLUSH);
      checksum = crc32_z(checksum, piece.data(), piece.size() - stream.avail_out);
    }
    const bool whole = state == Z_STREAM_END && stream.total_out == entry.size;
    inflateEnd(&stream);
    if (!whole) fail(entry, "does not decompress to its size");
    return checksum;
  }

  std::string_view bytes_;
  const std::string& name_;
  ZipArchive::Compressed compressed_;
  std::uint64_t inflated_bytes_ = 0;
};

}  // namespace

ZipArchive::ZipArchive(std::string_view bytes, const std::string& name, Compressed compressed)
    : records_(ZipReader(bytes, name, compressed).read()) {}

const ZipArchive::Record* ZipArchive::find(std::string_view name) const {
  const auto found = std::lower_bound(
      records_.begin(), records_.end(), name,
      [](const Record& record, std::string_view wanted) { return record.name < wanted; });
  return found != records_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace pagoda
