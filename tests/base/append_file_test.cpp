#include "base/append_file.h"

#include <pagoda/base/error.h>

#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace append_file_test {

using testing::FullDisk;
using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

TEST(AppendFileTest, AddsToWhatIsThere) {
  const ScratchDirectory scratch;
  write_file(scratch / "log", "one\n");
  {
    AppendFile file(scratch / "log");
    file.append("two\n");
    EXPECT_EQ(read_file(scratch / "log"), "one\n");
    file.flush();
    EXPECT_EQ(read_file(scratch / "log"), "one\ntwo\n");
    EXPECT_NO_THROW(file.sync());
    file.append("three\n");
  }
  EXPECT_EQ(read_file(scratch / "log"), "one\ntwo\nthree\n");
  EXPECT_THROW(AppendFile(scratch / "log", IfThere::refuse), IoError);
}

TEST(AppendFileTest, IsNotWrittenThroughALink) {
  const ScratchDirectory scratch;
  write_file(scratch / "victim", "precious");
  std::filesystem::create_symlink("victim", scratch / "log");
  EXPECT_THROW(AppendFile(scratch / "log"), IoError);
}

TEST(AppendFileTest, GoesOnAtTheByteWhereAFullDiskStoppedIt) {
  const ScratchDirectory scratch;
  const std::string text = "0123456789";
  AppendFile file(scratch / "log");
  file.append(text);
  {
    const FullDisk full(4);
    EXPECT_THROW(file.flush(), IoError);
    EXPECT_EQ(read_file(scratch / "log"), text.substr(0, 4));
  }
  file.flush();
  EXPECT_EQ(read_file(scratch / "log"), text);
}

}  // namespace append_file_test
}  // namespace pagoda
