#include <pagoda/base/error.h>
#include <pagoda/base/temporary_directory.h>

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/environment.h"
#include "support/scratch_directory.h"

namespace pagoda {
namespace temporary_directory_test {

using testing::ScratchDirectory;
using testing::write_file;
using Names = std::vector<std::string>;

/// Temporary files are in a directory of the test while it lives.
class TemporaryDirectoryTest : public ::testing::Test {
 protected:
  const ScratchDirectory scratch_;
  const testing::Environment place_{"TMPDIR", scratch_.path().c_str()};
};

TEST_F(TemporaryDirectoryTest, IsRemovedWithEverythingInIt) {
  {
    const TemporaryDirectory first("purpose");
    const TemporaryDirectory second("purpose");
    EXPECT_NE(first.path(), second.path());
    EXPECT_TRUE(first.path().filename().string().starts_with("pagoda-purpose-"));
    write_file(first.path() / "file", "text");
    std::filesystem::create_directories(second.path() / "a" / "b");
    EXPECT_EQ(scratch_.names().size(), 2u);
  }
  EXPECT_EQ(scratch_.names(), Names{});
}

TEST_F(TemporaryDirectoryTest, ThoseOfKilledProcessesAreRemovedByTheNext) {
  const TemporaryDirectory living("purpose");
  write_file(living.path() / "file", "in use");
  const pid_t child = fork();
  if (child == 0) {
    const TemporaryDirectory dying("purpose");
    write_file(dying.path() / "file", "text");
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(scratch_.names().size(), 2u);
  {
    const TemporaryDirectory other("another");
  }
  EXPECT_EQ(scratch_.names().size(), 2u);
  {
    const TemporaryDirectory next("purpose");
  }
  EXPECT_EQ(scratch_.names(), Names{living.path().filename()});
  EXPECT_TRUE(std::filesystem::exists(living.path() / "file"));
}

TEST_F(TemporaryDirectoryTest, APlaceThatIsMissingIsAnIoErrorThatNamesIt) {
  const testing::Environment missing("TMPDIR", (scratch_ / "missing").c_str());
  try {
    const TemporaryDirectory directory("purpose");
    FAIL() << "made " << directory.path();
  } catch (const IoError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find((scratch_ / "missing").string()), std::string::npos) << message;
    EXPECT_NE(message.find("set TMPDIR"), std::string::npos) << message;
  }
}

}  // namespace temporary_directory_test
}  // namespace pagoda
