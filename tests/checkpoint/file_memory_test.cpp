#include "checkpoint/file_memory.h"

#include <pagoda/base/error.h>

#include <cstdint>
#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace file_memory_test {

using testing::message_of;
using testing::ScratchDirectory;

TEST(FileMemoryTest, GivesAllBytesAligned) {
  const ScratchDirectory scratch;
  for (const std::size_t size : {0, 1, 4096, 1'000'003}) {
    const std::string bytes(size, 'x');
    testing::write_file(scratch / "file", bytes);
    const FileMemory memory = read_file_memory(scratch / "file");
    EXPECT_EQ(memory.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.owner.get()) % FileMemory::kAlignment, 0u);
  }
}

TEST(FileMemoryTest, WhatMayHaveNoEndIsRefused) {
  const ScratchDirectory scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  for (const std::filesystem::path& path : {scratch / "pipe", std::filesystem::path("/dev/zero")}) {
    const std::string message = message_of<IoError>([&] { read_file_memory(path); });
    EXPECT_NE(message.find(path.string() + ": it is no regular file"), std::string::npos)
        << message;
  }
}

TEST(FileMemoryTest, WhatCannotBeReadIsAnIoErrorWithTheReason) {
  const ScratchDirectory scratch;
  EXPECT_NE(
      message_of<IoError>([&] { read_file_memory(scratch / "missing"); }).find("No such file"),
      std::string::npos);
  EXPECT_NE(message_of<IoError>([&] { read_file_memory(scratch.path()); }).find("Is a directory"),
            std::string::npos);
}

}  // namespace file_memory_test
}  // namespace pagoda
