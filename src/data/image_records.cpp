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
    : bytes_(std::move(bytes)), source_(source) {
  check_records(bytes_, source);
}

std::vector<DataInput> ImageRecords::inputs() const {
  if (!files_.empty()) return files_;
  DataInput input{.name = source_};
  add_content(input, bytes_);
  return {input};
}

ImageRecords ImageRecords::read(const std::vector<std::filesystem::path>& files) {
  std::vector<std::uint8_t> bytes;
  std::vector<DataInput> inputs;
  for (const auto& file : files) {
    const std::size_t before = bytes.size();
    const std::vector<char> read = read_bytes(file);
    if (read.empty()) throw DataError(file.string() + " is empty; get it again");
    bytes.insert(bytes.end(), read.begin(), read.end());
    const auto added = std::span(bytes).subspan(before);
    check_records(added, file.string());
    auto& input = inputs.emplace_back(DataInput{.name = file.string()});
    add_content(input, added);
    check_against_checksum(file, input.crc32);
  }
  ImageRecords records(std::move(bytes), "image records");
  records.files_ = std::move(inputs);
  return records;
}

}  // namespace pagoda
