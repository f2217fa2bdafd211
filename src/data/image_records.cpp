#include <pagoda/base/error.h>
#include <pagoda/data/image_records.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "data/file_checksums.h"

namespace pagoda {
namespace {

void check_records(std::span<const std::uint8_t> bytes, const std::string& source) {
  if (bytes.size() % kImageRecordBytes != 0) {
    throw DataError(source + ": " + std::to_string(bytes.size()) +
                    " bytes are not a whole number of records of " +
                    std::to_string(kImageRecordBytes) + " bytes; the last one, at offset " +
                    std::to_string(bytes.size() / kImageRecordBytes * kImageRecordBytes) +
                    ", is cut; get the file again");
  }
  for (std::size_t offset = 0; offset < bytes.size(); offset += kImageRecordBytes) {
    if (bytes[offset] >= kImageClasses) {
      throw DataError(source + ": the label at offset " + std::to_string(offset) + " is " +
                      std::to_string(bytes[offset]) +
                      ", labels are 0 to 9; the file is damaged, get it again");
    }
  }
}

void append_file(const std::filesystem::path& path, std::vector<std::uint8_t>& bytes) {
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "rb"),
                                                                &std::fclose);
  if (!file) throw IoError("cannot read " + path.string() + ": " + std::strerror(errno));
  constexpr std::size_t kChunk = 1 << 20;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kChunk);
    const std::size_t got = std::fread(bytes.data() + before, 1, kChunk, file.get());
    bytes.resize(before + got);
    if (got == 0) break;
  }
  if (std::ferror(file.get()))
    throw IoError("reading " + path.string() + " failed: " + std::strerror(errno));
}

}  // namespace

ImageRecords::ImageRecords(std::vector<std::uint8_t> bytes, const std::string& source)
    : bytes_(std::move(bytes)) {
  check_records(bytes_, source);
}

ImageRecords ImageRecords::read(const std::vector<std::filesystem::path>& files) {
  std::vector<std::uint8_t> bytes;
  for (const auto& file : files) {
    const std::size_t before = bytes.size();
    append_file(file, bytes);
    if (bytes.size() == before) throw DataError(file.string() + " is empty; get it again");
    const auto added = std::span(bytes).subspan(before);
    check_records(added, file.string());
    check_against_checksum(file, added);
  }
  return ImageRecords(std::move(bytes), "image records");
}

}  // namespace pagoda
