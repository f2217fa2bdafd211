#pragma once

// Zip archives and pickles made by hand, whole by their checksums, whatever they say.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

namespace pagoda::testing {

/// Names and contents.
using ArchiveEntries = std::vector<std::pair<std::string, std::string>>;

inline std::string little_endian(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i, value >>= 8) bytes += static_cast<char>(value);
  return bytes;
}

inline std::uint32_t checksum_of(const std::string& content) {
  const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
  return static_cast<std::uint32_t>(crc32_z(0, bytes, content.size()));
}

/// The part that an entry's local header and its directory entry have in common.
inline std::string zip_header_of(const std::pair<std::string, std::string>& entry) {
  const auto& [name, content] = entry;
  return little_endian(20, 2) + little_endian(0, 8) + little_endian(checksum_of(content), 4) +
         little_endian(content.size(), 4) + little_endian(content.size(), 4) +
         little_endian(name.size(), 2) + little_endian(0, 2);
}

inline std::string zip_directory_entry(const std::pair<std::string, std::string>& entry,
                                       std::size_t local) {
  return little_endian(0x02014b50, 4) + little_endian(20, 2) + zip_header_of(entry) +
         little_endian(0, 10) + little_endian(local, 4) + entry.first;
}

inline std::string zip_end(std::size_t entries, std::size_t directory_bytes, std::size_t offset) {
  return little_endian(0x06054b50, 4) + little_endian(0, 4) + little_endian(entries, 2) +
         little_endian(entries, 2) + little_endian(directory_bytes, 4) + little_endian(offset, 4) +
         little_endian(0, 2);
}

/// A plain zip archive with stored entries, as the specification describes it.
inline std::string zip_of(const ArchiveEntries& entries) {
  std::string archive;
  std::string directory;
  for (const auto& entry : entries) {
    directory += zip_directory_entry(entry, archive.size());
    archive += little_endian(0x04034b50, 4) + zip_header_of(entry) + entry.first + entry.second;
  }
  return archive + directory + zip_end(entries.size(), directory.size(), archive.size());
}

/// `times` written one after another.
inline std::string repeated(const std::string& piece, std::size_t times) {
  std::string all;
  all.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += piece;
  return all;
}

// Pieces of a pickle of protocol 2.

inline std::string pickled_text(const std::string& text) {
  return "X" + little_endian(text.size(), 4) + text;
}

inline std::string pickled_global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

inline std::string pickled_int(std::int64_t value) {
  return "\x8a\x08" + little_endian(static_cast<std::uint64_t>(value), 8);
}

inline std::string pickled_tuple(const std::vector<std::int64_t>& values) {
  std::string pickle = "(";
  for (const std::int64_t value : values) pickle += pickled_int(value);
  return pickle + "t";
}

struct PickledTensor {
  std::string storage_class = "FloatStorage";
  std::string key = "0";
  std::int64_t elements = 2;  ///< of the storage
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes = {2};
  std::vector<std::int64_t> strides = {1};
  std::string metadata = "";  ///< a seventh argument
};

inline std::string pickled_storage(const PickledTensor& tensor) {
  return "(" + pickled_text("storage") + pickled_global("torch", tensor.storage_class) +
         pickled_text(tensor.key) + pickled_text("cpu") + pickled_int(tensor.elements) + "tQ";
}

inline std::string pickled_tensor(const PickledTensor& tensor) {
  return pickled_global("torch._utils", "_rebuild_tensor_v2") + "(" + pickled_storage(tensor) +
         pickled_int(tensor.offset) + pickled_tuple(tensor.sizes) + pickled_tuple(tensor.strides) +
         "\x89" + pickled_global("collections", "OrderedDict") + ")R" + tensor.metadata + "tR";
}

/// A dict of one entry.
inline std::string pickled_dict(const std::string& key, const std::string& value) {
  return "}(" + pickled_text(key) + value + "u";
}

/// What torch.save makes of a pickle (between its first and its last opcode) and its storages.
inline std::string saved_archive(const std::string& pickle, const std::string& record = "",
                                 ArchiveEntries more = {}) {
  ArchiveEntries entries = {{"archive/data.pkl", "\x80\x02" + pickle + "."},
                            {"archive/data/0", record},
                            {"archive/version", "3\n"}};
  for (auto& entry : more) entries.push_back(std::move(entry));
  return zip_of(entries);
}

}  // namespace pagoda::testing
