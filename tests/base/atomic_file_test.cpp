#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
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

/// A process that dies while it writes.
void write_and_die(const std::filesystem::path& path) {
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write("half of it");
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
}

TEST(AtomicFileTest, RemovesWhatAKilledWriterOfTheSameFileLeft) {
  const ScratchDirectory scratch;
  write_and_die(scratch / "file");
  write_and_die(scratch / "other");
  EXPECT_EQ(scratch.names().size(), 2u);
  replace(scratch / "file", "new");
  EXPECT_EQ(read_file(scratch / "file"), "new");
  ASSERT_EQ(scratch.names().size(), 2u);
  EXPECT_TRUE(scratch.names()[1].starts_with("other.tmp-")) << scratch.names()[1];
  remove_abandoned_files(scratch.path());
  EXPECT_EQ(scratch.names(), Names{"file"});
}

TEST(AtomicFileTest, DoesNotRemoveWhatIsBeingWritten) {
  const ScratchDirectory scratch;
  AtomicFile slow(scratch / "file");
  slow.write("slow");
  replace(scratch / "file", "quick");
  remove_abandoned_files(scratch.path());
  EXPECT_EQ(read_file(scratch / "file"), "quick");
  slow.commit();
  EXPECT_EQ(read_file(scratch / "file"), "slow");
  EXPECT_EQ(scratch.names(), Names{"file"});
}

TEST(AtomicFileTest, RemovesNothingThatOnlyLooksAlike) {
  const ScratchDirectory scratch;
  const Names names{"a.tmp", "b.tmp-", "c.tmp-x", "d.tmp-1x", "link.tmp-1-0"};
  for (const auto& name : names) write_file(scratch / name, "mine");
  std::filesystem::remove(scratch / "link.tmp-1-0");
  std::filesystem::create_symlink("a.tmp", scratch / "link.tmp-1-0");
  remove_abandoned_files(scratch.path());
  EXPECT_EQ(scratch.names(), names);
  EXPECT_NO_THROW(remove_abandoned_files(scratch / "missing"));
}

// Somebody who may write in the same directory could point a temporary name at a file of the user.
TEST(AtomicFileTest, IsNotWrittenThroughAPlantedLink) {
  const ScratchDirectory scratch;
  write_file(scratch / "victim", "precious");
  std::filesystem::create_directory(scratch / "shared");
  const std::string start = "file.tmp-" + std::to_string(getpid());
  std::filesystem::create_symlink(scratch / "victim", scratch / "shared" / start);
  for (int i = 0; i < 1000; ++i) {
    std::filesystem::create_symlink(scratch / "victim",
                                    scratch / "shared" / (start + "-" + std::to_string(i)));
  }
  replace(scratch / "shared" / "file", "new");
  EXPECT_EQ(read_file(scratch / "victim"), "precious");
  EXPECT_EQ(read_file(scratch / "shared" / "file"), "new");
}

TEST(AtomicFileTest, ReplacesALinkAndNotWhatItPointsTo) {
  const ScratchDirectory scratch;
  write_file(scratch / "elsewhere", "old");
  std::filesystem::create_symlink("elsewhere", scratch / "file");
  replace(scratch / "file", "new");
  EXPECT_EQ(read_file(scratch / "elsewhere"), "old");
  EXPECT_EQ(read_file(scratch / "file"), "new");
}

TEST(AtomicFileTest, DoesNotReplaceDevicesAndPipes) {
  const ScratchDirectory scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", scratch / "device");
  for (const char* name : {"pipe", "device"}) {
    const std::string message = failure_of_replacing(scratch / name, "new");
    EXPECT_NE(message.find(scratch / name), std::string::npos) << message;
    EXPECT_NE(message.find("name a file"), std::string::npos) << message;
  }
  EXPECT_TRUE(std::filesystem::is_fifo(scratch / "pipe"));
  EXPECT_TRUE(std::filesystem::is_character_file(scratch / "device"));
  EXPECT_EQ(scratch.names(), (Names{"device", "pipe"}));
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
