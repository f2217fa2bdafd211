#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace whole_file_test {

TEST(WholeFileTest, GivesEveryByte) {
  const testing::ScratchDirectory scratch;
  for (const std::size_t size : {0, 1, 4096, 100'003}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 % 256);
    std::ofstream(scratch / "file", std::ios::binary) << bytes;
    EXPECT_EQ(read_whole_file(scratch / "file"), bytes) << size;
    EXPECT_EQ(read_bytes(scratch / "file"), std::vector<char>(bytes.begin(), bytes.end())) << size;
  }
}

TEST(WholeFileTest, GivesFilesWhoseSizeTheSystemDoesNotTell) {
  EXPECT_TRUE(read_whole_file("/proc/self/status").starts_with("Name:"));
}

TEST(WholeFileTest, GivesWhatAPipeHolds) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string bytes(5'003, 'x');
  ASSERT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  close(ends[1]);
  EXPECT_EQ(read_whole_file("/proc/self/fd/" + std::to_string(ends[0])), bytes);
  close(ends[0]);
}

TEST(WholeFileTest, AFileNeedNotExistButWhetherItDoesMustBeKnown) {
  const testing::ScratchDirectory scratch;
  EXPECT_EQ(read_file_if_any(scratch / "f"), std::nullopt);
  testing::write_file(scratch / "f", "text");
  EXPECT_EQ(read_file_if_any(scratch / "f"), "text");
  std::filesystem::create_symlink("circle", scratch / "circle");
  EXPECT_THROW(read_file_if_any(scratch / "circle"), IoError);
}

TEST(WholeFileTest, DevicesAreRefused) { EXPECT_THROW(read_bytes("/dev/zero"), IoError); }

TEST(WholeFileTest, GivesTheStartOfWhatIsLonger) {
  const testing::ScratchDirectory scratch;
  testing::write_file(scratch / "f", std::string(5'003, 'x'));
  EXPECT_EQ(read_file_start(scratch / "f", 1000), std::string(1000, 'x'));
  EXPECT_EQ(read_file_start(scratch / "f", 9000), std::string(5'003, 'x'));
  EXPECT_EQ(read_file_start("/dev/null", 1000), "");
}

TEST(WholeFileTest, WhatCannotBeReadIsNamed) {
  const testing::ScratchDirectory scratch;
  EXPECT_THROW(read_file_start(scratch.path(), 7), IoError);
  EXPECT_THROW(read_file_start(scratch / "missing", 7), IoError);
  EXPECT_THROW(read_whole_file(scratch.path()), IoError);
  try {
    read_whole_file(scratch / "missing");
    FAIL() << "nothing was thrown";
  } catch (const IoError& error) {
    EXPECT_EQ(error.what(),
              "cannot read " + (scratch / "missing").string() + ": No such file or directory");
  }
}

}  // namespace whole_file_test
}  // namespace pagoda
