#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/data/image_records.h>

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

}  // namespace

ImageRecords::ImageRecords(std::vector<std::uint8_t> bytes, const std::string& source)
    : bytes_(std::move(bytes)) {
  check_records(bytes_, source);
}

ImageRecords ImageRecords::read(const std::vector<std::filesystem::path>& files) {
  std::vector<std::uint8_t> bytes;
  for (const auto& file : files) {
    const std::size_t before = bytes.size();
    const std::vector<char> read = read_bytes(file);
    if (read.empty()) throw DataError(file.string() + " is empty; get it again");
    bytes.insert(bytes.end(), read.begin(), read.end());
    const auto added = std::span(bytes).subspan(before);
    check_records(added, file.string());
    check_against_checksum(file, added);
  }
  return ImageRecords(std::move(bytes), "image records");
}

}  // namespace pagoda
