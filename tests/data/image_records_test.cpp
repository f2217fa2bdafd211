#include <pagoda/base/error.h>
#include <pagoda/data/image_records.h>

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace image_records_test {

using testing::message_of;
using testing::ScratchDirectory;
using testing::write_file;

/// Record i has label (first + i) % 10; byte k of its pixels is (label + k) % 251.
std::string records(int first, int count) {
  std::string bytes;
  for (int i = first; i < first + count; ++i) {
    const int label = i % kImageClasses;
    bytes += static_cast<char>(label);
    for (std::size_t k = 1; k < kImageRecordBytes; ++k)
      bytes += static_cast<char>((label + k - 1) % 251);
  }
  return bytes;
}

ImageRecords in_memory(const std::string& bytes) {
  return ImageRecords({bytes.begin(), bytes.end()}, "these bytes");
}

void expect_records(const ImageRecords& read, int count) {
  ASSERT_EQ(read.size(), count);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(read.label(i), i % kImageClasses);
    ASSERT_EQ(read.pixels(i).size(), kImageRecordBytes - 1);
    for (std::size_t k = 0; k < kImageRecordBytes - 1; ++k) {
      ASSERT_EQ(read.pixels(i)[k], (read.label(i) + k) % 251) << "record " << i << ", byte " << k;
    }
  }
}

TEST(ImageRecordsTest, GivesLabelsAndPixels) {
  expect_records(in_memory(records(0, 12)), 12);
  EXPECT_EQ(in_memory("").size(), 0);
}

TEST(ImageRecordsTest, ReadsFilesInTheirOrder) {
  const ScratchDirectory scratch;
  // The second is larger than the chunks in which files are read.
  write_file(scratch / "b", records(0, 3));
  write_file(scratch / "a", records(3, 700));
  write_file(scratch / "c", records(703, 1));
  expect_records(ImageRecords::read({scratch / "b", scratch / "a", scratch / "c"}), 704);
}

struct Damage {
  std::string bytes;
  std::string offset;  // that the message must tell
};

std::vector<Damage> damages() {
  std::string bad_label = records(0, 3);
  bad_label[2 * kImageRecordBytes] = 10;
  std::string worse_label = records(0, 3);
  worse_label[0] = static_cast<char>(255);
  return {{records(0, 2) + "x", "offset 6146"},
          {records(0, 2).substr(0, 3072), "offset 0"},
          {records(0, 3).substr(0, 3 * kImageRecordBytes - 1), "offset 6146"},
          {bad_label, "offset 6146"},
          {worse_label, "offset 0"}};
}

TEST(ImageRecordsTest, TellWhatTheyWereReadFrom) {
  const ScratchDirectory scratch;
  write_file(scratch / "a", records(0, 2));
  write_file(scratch / "b", records(2, 1));
  const auto input_of = [](const std::string& name, const std::string& bytes) {
    DataInput input{.name = name};
    add_content(input, bytes);
    return input;
  };
  const auto inputs = ImageRecords::read({scratch / "a", scratch / "b"}).inputs();
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].name, (scratch / "a").string());
  EXPECT_EQ(inputs[0].crc32, input_of("a", records(0, 2)).crc32);
  EXPECT_EQ(inputs[1].crc32, input_of("b", records(2, 1)).crc32);
  EXPECT_EQ(inputs[1].bytes, static_cast<std::int64_t>(kImageRecordBytes));
  const auto given = in_memory(records(0, 3)).inputs();
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].name, "these bytes");
  EXPECT_EQ(given[0].crc32, input_of("", records(0, 3)).crc32);
}

TEST(ImageRecordsTest, DamageIsADataErrorWithFileAndOffset) {
  const ScratchDirectory scratch;
  write_file(scratch / "good", records(0, 5));
  for (const auto& [bytes, offset] : damages()) {
    write_file(scratch / "bad", bytes);
    const std::string read = message_of<DataError>([&] {
      ImageRecords::read({scratch / "good", scratch / "bad"});
    });
    EXPECT_NE(read.find(scratch / "bad"), std::string::npos) << read;
    EXPECT_NE(read.find(offset), std::string::npos) << read;

    const std::string made = message_of<DataError>([&] { in_memory(bytes); });
    EXPECT_NE(made.find("these bytes"), std::string::npos) << made;
    EXPECT_NE(made.find(offset), std::string::npos) << made;
  }
}

TEST(ImageRecordsTest, AnEmptyFileIsDamaged) {
  const ScratchDirectory scratch;
  write_file(scratch / "empty", "");
  const std::string message =
      message_of<DataError>([&] { ImageRecords::read({scratch / "empty"}); });
  EXPECT_NE(message.find(scratch / "empty"), std::string::npos) << message;
}

TEST(ImageRecordsTest, AFileThatCannotBeReadIsAnIoErrorWithItsName) {
  const ScratchDirectory scratch;
  for (const auto& path : {scratch / "missing", scratch.path()}) {
    const std::string message = message_of<IoError>([&] { ImageRecords::read({path}); });
    EXPECT_NE(message.find(path), std::string::npos) << message;
  }
}

}  // namespace image_records_test
}  // namespace pagoda
