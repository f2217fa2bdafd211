#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace atomic_file_test {

using Names = std::vector<std::string>;

using testing::FullDisk;
using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

void replace(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string failure_of_replacing(const std::filesystem::path& path, std::string_view text) {
  try {
    replace(path, text);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

TEST(AtomicFileTest, ReplacesTheFile) {
  const ScratchDirectory scratch;
  const std::string large(3'000'001, 'x');
  for (const std::string& text :
       {std::string("old"), large, std::string(), std::string("n\0w", 3)}) {
    replace(scratch / "file", text);
    EXPECT_EQ(read_file(scratch / "file"), text);
    EXPECT_EQ(scratch.names(), Names{"file"});
  }
}

TEST(AtomicFileTest, JoinsWhatIsWrittenInPieces) {
  const ScratchDirectory scratch;
  AtomicFile file(scratch / "file");
  for (const char* piece : {"a", "", "bc", "def"}) file.write(piece);
  file.commit();
  EXPECT_EQ(read_file(scratch / "file"), "abcdef");
}

TEST(AtomicFileTest, LeavesTheOldFileUntilCommit) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "old");
  {
    AtomicFile file(scratch / "file");
    file.write("half of the new");
    EXPECT_EQ(read_file(scratch / "file"), "old");
  }
  EXPECT_EQ(read_file(scratch / "file"), "old");
  EXPECT_EQ(scratch.names(), Names{"file"});
}

// Left behind by a killed program that had the same process number.
TEST(AtomicFileTest, AnOldTemporaryFileDoesNotShowThrough) {
  const ScratchDirectory scratch;
  write_file(scratch / ("file.tmp-" + std::to_string(getpid())), "something much longer");
  replace(scratch / "file", "new");
  EXPECT_EQ(read_file(scratch / "file"), "new");
  EXPECT_EQ(scratch.names(), Names{"file"});
}

// A program that has the old file open reads the old one to its end, never a mixture.
TEST(AtomicFileTest, DoesNotTouchWhatAReaderHasOpen) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "old");
  std::ifstream reader(scratch / "file");
  replace(scratch / "file", "much newer");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
}

TEST(AtomicFileTest, AFullDiskIsAnIoErrorAndKeepsTheOldFile) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "old");
  std::string message;
  {
    const FullDisk full(4096);
    message = failure_of_replacing(scratch / "file", std::string(10'000, 'x'));
  }
  EXPECT_NE(message.find(scratch / "file"), std::string::npos) << message;
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_EQ(read_file(scratch / "file"), "old");
  EXPECT_EQ(scratch.names(), Names{"file"});
}

TEST(AtomicFileTest, APlaceThatCannotBeWrittenIsAnIoErrorWithPathAndReason) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "old");
  std::filesystem::create_directory(scratch / "directory");
  const std::pair<std::filesystem::path, const char*> cases[] = {
      {scratch / "missing" / "file", "No such file or directory"},
      {scratch / "file" / "below", "Not a directory"},
      {scratch / "directory", "Is a directory"},
  };
  for (const auto& [path, reason] : cases) {
    const std::string message = failure_of_replacing(path, "new");
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
  EXPECT_EQ(scratch.names(), (Names{"directory", "file"}));
  EXPECT_EQ(read_file(scratch / "file"), "old");
}

TEST(AtomicFileTest, APathWithoutDirectoryIsInTheCurrentOne) {
  const ScratchDirectory scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  replace("file", "new");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(scratch / "file"), "new");
}

}  // namespace atomic_file_test
}  // namespace pagoda
