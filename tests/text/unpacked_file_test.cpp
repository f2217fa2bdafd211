#include "text/unpacked_file.h"

#include <pagoda/base/error.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/text_files.h"

namespace pagoda {
namespace unpacked_file_test {

using testing::ScratchDirectory;
using testing::write_file;

std::string unpacked(const std::filesystem::path& path, std::size_t at_a_time = 1000) {
  UnpackedFile file{InputFile(path)};
  std::string text;
  std::vector<char> part(at_a_time);
  while (const std::size_t count = file.read(part)) text.append(part.data(), count);
  EXPECT_EQ(file.bytes_read(), static_cast<std::int64_t>(std::filesystem::file_size(path)));
  EXPECT_EQ(file.read(part), 0u);
  return text;
}

std::string packed(const ScratchDirectory& directory, const std::string& text) {
  testing::write_gzip(directory / "packed", text);
  return testing::read_file(directory / "packed");
}

/// Hard to compress, so that it takes more than a buffer.
std::string noise(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::uint32_t state = 1;
  for (char& byte : text)
    byte = static_cast<char>((state = state * 1'664'525 + 1'013'904'223) >> 24);
  return text;
}

std::string failure_of(const std::filesystem::path& path) {
  try {
    unpacked(path);
  } catch (const DataError& error) {
    return error.what();
  }
  return "none";
}

TEST(UnpackedFileTest, GivesThePlainAndTheUnpackedBytes) {
  const ScratchDirectory directory;
  for (const std::size_t bytes : {0, 1, 2, 999, 1000, 1001, 300'007}) {
    const std::string text = noise(bytes);
    write_file(directory / "plain", text);
    write_file(directory / "gzip", packed(directory, text));
    for (const std::size_t at_a_time : {1, 1000, 1 << 16}) {
      if (bytes / at_a_time > 10'000) continue;
      EXPECT_EQ(unpacked(directory / "plain", at_a_time), text) << bytes;
      EXPECT_EQ(unpacked(directory / "gzip", at_a_time), text) << bytes;
    }
  }
}

TEST(UnpackedFileTest, PartsOneAfterAnotherAreOneText) {
  const ScratchDirectory directory;
  const std::string text = noise(100'003);
  write_file(directory / "f", packed(directory, text) + packed(directory, "") +
                                  packed(directory, "b\n") + packed(directory, text));
  EXPECT_EQ(unpacked(directory / "f"), text + "b\n" + text);
}

TEST(UnpackedFileTest, EveryCutIsNoticed) {
  const ScratchDirectory directory;
  const std::string bytes = packed(directory, "some text\n");
  for (std::size_t cut = 2; cut < bytes.size(); ++cut) {
    write_file(directory / "cut", bytes.substr(0, cut));
    EXPECT_EQ(failure_of(directory / "cut"),
              (directory / "cut").string() + ", byte " + std::to_string(cut + 1) +
                  ": the compressed text is cut; fetch the file again");
  }
}

TEST(UnpackedFileTest, DamageIsNoticed) {
  const ScratchDirectory directory;
  std::string bytes = packed(directory, "some text\n");
  bytes[bytes.size() - 6] ^= 1;  // in the checksum
  write_file(directory / "damaged", bytes);
  EXPECT_NE(failure_of(directory / "damaged").find("the compressed text is damaged"),
            std::string::npos);
}

TEST(UnpackedFileTest, WhatFollowsThatIsNotCompressedIsAnErrorWithItsPlace) {
  const ScratchDirectory directory;
  const std::string bytes = packed(directory, "some text\n");
  for (const std::string& more :
       {std::string("x"), std::string("more text\n"), std::string(3, '\0')}) {
    write_file(directory / "more", bytes + more);
    EXPECT_EQ(failure_of(directory / "more"),
              (directory / "more").string() + ", byte " + std::to_string(bytes.size() + 1) +
                  ": something else follows the compressed text; fetch the file again");
  }
}

}  // namespace unpacked_file_test
}  // namespace pagoda
