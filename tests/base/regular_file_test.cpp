#include "base/regular_file.h"

#include <pagoda/base/error.h>

#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace regular_file_test {

using testing::message_of;
using testing::ScratchDirectory;

TEST(RegularFileTest, ReadsOnAndGivesLessAtTheEnd) {
  const ScratchDirectory scratch;
  testing::write_file(scratch / "file", "abcdefg");
  const RegularFile file(scratch / "file");
  EXPECT_EQ(file.size(), 7u);
  char memory[5];
  EXPECT_EQ(file.read_into(memory, 5), 5u);
  EXPECT_EQ(std::string(memory, 5), "abcde");
  EXPECT_EQ(file.read_into(memory, 5), 2u);
  EXPECT_EQ(file.read_into(memory, 5), 0u);
}

TEST(RegularFileTest, OtherKindsOfFilesAreRefused) {
  const ScratchDirectory scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  for (const std::filesystem::path& path : {scratch / "pipe", std::filesystem::path("/dev/zero")}) {
    const std::string message = message_of<IoError>([&] { (void)RegularFile(path).size(); });
    EXPECT_NE(message.find(path.string() + ": it is no regular file"), std::string::npos);
  }
  EXPECT_NE(message_of<IoError>([&] { RegularFile(scratch / "no"); }).find("No such file"),
            std::string::npos);
}

}  // namespace regular_file_test
}  // namespace pagoda
