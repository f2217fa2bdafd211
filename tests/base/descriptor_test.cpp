#include "base/descriptor.h"

#include <pagoda/base/error.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace descriptor_test {

using testing::ScratchDirectory;
using testing::write_file;

TEST(MakeDirectoriesTest, MakesAllThatAreMissing) {
  const ScratchDirectory scratch;
  for (const char* name : {"a/b/c", "a/b", "d/", "e//f/", "./g"}) {
    make_directories(scratch / name);
    EXPECT_TRUE(std::filesystem::is_directory(scratch / name)) << name;
    EXPECT_NO_THROW(make_directories(scratch / name)) << name;
  }
}

TEST(MakeDirectoriesTest, FollowsALinkToADirectory) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "there");
  std::filesystem::create_directory_symlink("there", scratch / "link");
  make_directories(scratch / "link" / "below");
  EXPECT_TRUE(std::filesystem::is_directory(scratch / "there" / "below"));
}

TEST(MakeDirectoriesTest, AFileInTheWayIsAnIoErrorThatNamesItAndWhatWasWanted) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "");
  for (const char* name : {"file", "file/below"}) {
    try {
      make_directories(scratch / name);
      FAIL() << name;
    } catch (const IoError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find((scratch / "file").string() + ": "), std::string::npos) << message;
      EXPECT_NE(message.find((scratch / name).string() + ": "), std::string::npos) << message;
      EXPECT_NE(message.find("Not a directory"), std::string::npos) << message;
    }
  }
}

TEST(SyncDirectoryTest, ADirectoryThatIsNotThereIsAnIoError) {
  const ScratchDirectory scratch;
  EXPECT_NO_THROW(sync_directory(scratch.path()));
  EXPECT_THROW(sync_directory(scratch / "missing"), IoError);
}

}  // namespace descriptor_test
}  // namespace pagoda
