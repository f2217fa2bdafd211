#include "base/mapped_file.h"

#include <pagoda/base/error.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace mapped_file_test {

using testing::message_of;
using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

TEST(MappedFileTest, HasAllBytesOfTheFile) {
  const ScratchDirectory scratch;
  for (const std::size_t size : {0, 1, 4096, 4097, 1'000'003}) {
    const std::string bytes(size, 'x');
    write_file(scratch / "file", bytes);
    const MappedFile file(scratch / "file");
    EXPECT_EQ(file.bytes(), bytes);
    EXPECT_NO_THROW(file.check_whole());
  }
}

TEST(MappedFileTest, WritingToTheMemoryLeavesTheFileAsItWas) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "abc");
  const MappedFile file(scratch / "file");
  const_cast<char*>(file.bytes().data())[1] = 'X';
  EXPECT_EQ(file.bytes(), "aXc");
  EXPECT_EQ(read_file(scratch / "file"), "abc");
}

TEST(MappedFileTest, AFileThatWasReplacedStaysAndOneThatWasCutIsTold) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "abcdefg");
  const MappedFile file(scratch / "file");
  write_file(scratch / "other", "xy");
  std::filesystem::rename(scratch / "other", scratch / "file");
  EXPECT_NO_THROW(file.check_whole());
  EXPECT_EQ(file.bytes(), "abcdefg");

  const MappedFile next(scratch / "file");
  std::filesystem::resize_file(scratch / "file", 1);
  EXPECT_EQ(message_of<IoError>([&] { next.check_whole(); }),
            (scratch / "file").string() +
                " had 2 bytes when it was opened and has 1 now; a file that is in use must be "
                "replaced, not changed");
}

TEST(MappedFileTest, WhatCannotBeMappedIsAnIoErrorWithTheReason) {
  const ScratchDirectory scratch;
  EXPECT_NE(message_of<IoError>([&] { MappedFile(scratch / "no"); }).find("No such file"),
            std::string::npos);
  EXPECT_NE(message_of<IoError>([&] { MappedFile(scratch.path()); }).find("Is a directory"),
            std::string::npos);
}

}  // namespace mapped_file_test
}  // namespace pagoda
