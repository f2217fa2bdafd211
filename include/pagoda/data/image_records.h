#pragma once

#include <pagoda/data/data_input.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace pagoda {

inline constexpr int kImageSide = 32;     ///< height and width of an image record, in pixels
inline constexpr int kImageChannels = 3;  ///< red, green, blue
inline constexpr int kImageClasses = 10;  ///< labels are 0 to 9

/// Bytes in one image record, in the layout of the CIFAR-10 binary files: one label byte (0 to 9),
/// then the 32x32 red values, the green ones and the blue ones, each plane row by row from the top
/// left. Records follow each other without header, padding or separator.
inline constexpr std::size_t kImageRecordBytes = 1 + kImageChannels * kImageSide * kImageSide;

/// Validated image records in memory.
///
/// Threads: immutable after construction.
/// Fails: DataError with the source and the offset when the length is not a whole number of records
/// or a label is above 9; also DataError when a file is empty or does not match its checksum;
/// IoError when a file cannot be read.
class ImageRecords {
 public:
  /// `source` names the origin of the bytes in messages.
  ImageRecords(std::vector<std::uint8_t> bytes, const std::string& source);

  /// Reads the records of all files, in order. If a file's directory has a list of checksums
  /// (crc32.txt, as `pagoda data` writes it), the file is checked against it.
  static ImageRecords read(const std::vector<std::filesystem::path>& files);

  /// How many records there are.
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size() / kImageRecordBytes); }

  /// What the records came from: the files, or the bytes passed to the constructor.
  std::vector<DataInput> inputs() const;

  /// The class of an image.
  int label(std::int64_t record) const { return bytes_[offset(record)]; }

  /// The red, green and blue planes of a record.
  std::span<const std::uint8_t> pixels(std::int64_t record) const {
    return std::span(bytes_).subspan(offset(record) + 1, kImageRecordBytes - 1);
  }

 private:
  static std::size_t offset(std::int64_t record) {
    return static_cast<std::size_t>(record) * kImageRecordBytes;
  }

  std::vector<std::uint8_t> bytes_;
  std::string source_;
  std::vector<DataInput> files_;
};

}  // namespace pagoda
