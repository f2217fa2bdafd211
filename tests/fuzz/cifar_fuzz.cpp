#include <pagoda/data/image_records.h>

#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace cifar_fuzz {

constexpr std::string_view kFile = "data_batch_1.bin";

/// Whether a list of checksums has a line for the file: eight digits, a blank and its name.
bool names_file(std::string_view list) {
  const std::string end = " " + std::string(kFile);
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t length = std::min(list.find('\n', begin), list.size()) - begin;
    if (length == 8 + end.size() && list.substr(begin + 8, end.size()) == end) return true;
    begin += length + 1;
  }
  return false;
}

/// crc32.txt and a file of image records, a line "%%" between them.
std::string read(std::string_view bytes) {
  const auto parts = parts_of(bytes, 2);
  input_file(parts[0], "crc32.txt");
  const ImageRecords records = ImageRecords::read({input_file(parts[1], kFile)});
  std::string text;
  for (std::int64_t i = 0; i < records.size(); ++i) {
    require(records.label(i) >= 0 && records.label(i) < kImageClasses, "a label is not a class");
    text += static_cast<char>('0' + records.label(i));
    const auto pixels = records.pixels(i);
    text.append(pixels.begin(), pixels.end());
  }
  require(text.size() == parts[1].size(), "other records were read than are in the file");
  return names_file(parts[0]) ? text : "read without a checksum";
}

const Registration registration{{"cifar", &read, true}};

}  // namespace cifar_fuzz
}  // namespace pagoda::fuzz
