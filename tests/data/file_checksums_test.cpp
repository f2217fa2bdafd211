#include "data/file_checksums.h"

#include <pagoda/base/error.h>
#include <pagoda/data/builtin_images.h>

#include <cstdio>
#include <random>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace file_checksums_test {

using testing::write_file;

std::string as_text(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

class FileChecksumsTest : public ::testing::Test {
 protected:
  FileChecksumsTest() : bytes(draw_builtin_images(1, 0, 7)), file(scratch / "images.bin") {
    write_file(file, as_text(bytes));
    char line[32];
    std::snprintf(line, sizeof line, "%08lx images.bin\n", crc32_z(0, bytes.data(), bytes.size()));
    write_file(scratch / "crc32.txt", line);
  }

  testing::ScratchDirectory scratch;
  std::vector<std::uint8_t> bytes;
  std::filesystem::path file;
};

TEST_F(FileChecksumsTest, WholeFilesAreRead) { EXPECT_EQ(ImageRecords::read({file}).size(), 7); }

TEST_F(FileChecksumsTest, NoDamageIsReadAsOtherImages) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    auto damaged = bytes;
    switch (random() % 4) {
      case 0:
        damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1U << random() % 8);
        break;
      case 1:
        damaged.resize(random() % damaged.size());
        break;
      case 2:
        damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(random() % damaged.size()),
                       static_cast<std::uint8_t>(random()));
        break;
      default:  // whole records that changed places
        std::rotate(
            damaged.begin(),
            damaged.begin() + static_cast<std::ptrdiff_t>(kImageRecordBytes * (1 + random() % 6)),
            damaged.end());
    }
    write_file(file, as_text(damaged));
    EXPECT_THROW(ImageRecords::read({file}), DataError) << "damage " << i;
  }
}

TEST_F(FileChecksumsTest, FilesThatTheListDoesNotKnowAreNotChecked) {
  write_file(scratch / "others.bin", as_text(draw_builtin_images(1, 7, 2)));
  EXPECT_EQ(ImageRecords::read({scratch / "others.bin"}).size(), 2);
}

TEST_F(FileChecksumsTest, ADamagedListIsAnError) {
  for (const char* list : {"12345 images.bin\n", "1234567x images.bin\n", "12345678images.bin\n",
                           "12345678 \n", "\n"}) {
    write_file(scratch / "crc32.txt", list);
    EXPECT_THROW(ImageRecords::read({file}), DataError) << list;
  }
}

TEST_F(FileChecksumsTest, AListThatCannotBeFoundOutAboutIsAnError) {
  std::filesystem::remove(scratch / "crc32.txt");
  std::filesystem::create_symlink("crc32.txt", scratch / "crc32.txt");  // leads in a circle
  EXPECT_THROW(ImageRecords::read({file}), IoError);
}

}  // namespace file_checksums_test
}  // namespace pagoda
