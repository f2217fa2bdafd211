#include "base/input_file.h"

#include <pagoda/base/error.h>

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace input_file_test {

using testing::ScratchDirectory;

std::string text_of(InputFile file) {
  std::string text;
  char part[3];
  while (const std::size_t count = file.read(part)) text.append(part, count);
  return text;
}

std::string refusal_of(const std::filesystem::path& path) {
  try {
    const InputFile file(path, std::chrono::milliseconds(1));
  } catch (const IoError& error) {
    return error.what();
  }
  return "none";
}

std::filesystem::path make_pipe(const ScratchDirectory& directory) {
  if (mkfifo((directory / "pipe").c_str(), 0600) != 0) throw IoError("no pipe");
  return directory / "pipe";
}

TEST(InputFileTest, ReadsRegularFiles) {
  const ScratchDirectory directory;
  testing::write_file(directory / "f", "seven..");
  EXPECT_EQ(text_of(InputFile(directory / "f")), "seven..");
  EXPECT_EQ(InputFile(directory / "f").size(), 7u);
  EXPECT_EQ(text_of(InputFile("/dev/null")), "");
}

TEST(InputFileTest, ReadsAPipeToItsEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "from a pipe", 11), 11);
  close(ends[1]);
  InputFile file("/proc/self/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  EXPECT_EQ(file.size(), std::nullopt);
  EXPECT_EQ(text_of(std::move(file)), "from a pipe");
}

TEST(InputFileTest, AnEmptyPipeWhoseWriterIsGoneHasEnded) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[1]);
  EXPECT_EQ(text_of(InputFile("/proc/self/fd/" + std::to_string(ends[0]))), "");
  close(ends[0]);
}

TEST(InputFileTest, WaitsOnceAWriterIsThere) {
  const ScratchDirectory directory;
  const auto path = make_pipe(directory);
  const int both = open(path.c_str(), O_RDWR);  // a writer who has written nothing
  InputFile file(path, std::chrono::milliseconds(1));
  ASSERT_EQ(write(both, "late", 4), 4);
  close(both);
  EXPECT_EQ(text_of(std::move(file)), "late");
}

TEST(InputFileTest, APipeThatNobodyWritesIsRefusedAfterAWhile) {
  const ScratchDirectory directory;
  const auto path = make_pipe(directory);
  EXPECT_EQ(refusal_of(path), "cannot read " + path.string() +
                                  ": nobody has opened this pipe for writing in 1 s; start its "
                                  "writer first");
}

TEST(InputFileTest, RefusesWhatNeverEnds) {
  const ScratchDirectory directory;
  for (const std::string device : {"/dev/zero", "/dev/urandom"}) {
    EXPECT_EQ(refusal_of(device),
              "cannot read " + device + ": it is a device; take a regular file or a pipe");
  }
  EXPECT_EQ(refusal_of(directory.path()), "cannot read " + directory.path().string() +
                                              ": it is a directory; take a regular file or a pipe");
  EXPECT_EQ(refusal_of(directory / "none"),
            "cannot read " + (directory / "none").string() + ": No such file or directory");
}

}  // namespace input_file_test
}  // namespace pagoda
