#include "base/directory_lock.h"

#include <pagoda/base/error.h>

#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace directory_lock_test {

using testing::ScratchDirectory;

TEST(DirectoryLockTest, ASecondHolderIsRefusedAndToldWhoHoldsIt) {
  const ScratchDirectory scratch;
  const DirectoryLock first(scratch.path());
  try {
    const DirectoryLock second(scratch.path());
    FAIL() << "locked twice";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), scratch.path().string() + " is in use by process " +
                                std::to_string(getpid()) +
                                "; wait until it ends, or choose another directory");
  }
}

TEST(DirectoryLockTest, IsFreeAgainAfterItsHolder) {
  const ScratchDirectory scratch;
  { const DirectoryLock first(scratch.path()); }
  EXPECT_NO_THROW(DirectoryLock(scratch.path()));
}

TEST(DirectoryLockTest, OthersSeeWhetherItIsHeld) {
  const ScratchDirectory scratch;
  EXPECT_FALSE(is_locked(scratch.path())) << "nobody ever was here";
  {
    const DirectoryLock lock(scratch.path());
    EXPECT_TRUE(is_locked(scratch.path()));
  }
  EXPECT_FALSE(is_locked(scratch.path()));
  EXPECT_NO_THROW(DirectoryLock(scratch.path())) << "looking holds nothing";
}

TEST(DirectoryLockTest, DoesNotWriteThroughALink) {
  const ScratchDirectory scratch;
  testing::write_file(scratch / "victim", "precious");
  std::filesystem::create_symlink("victim", scratch / ".lock");
  EXPECT_THROW(DirectoryLock(scratch.path()), IoError);
  EXPECT_EQ(testing::read_file(scratch / "victim"), "precious");
}

TEST(DirectoryLockTest, NeedsADirectory) {
  EXPECT_THROW(DirectoryLock("/dev/null/nowhere"), IoError);
}

}  // namespace directory_lock_test
}  // namespace pagoda
