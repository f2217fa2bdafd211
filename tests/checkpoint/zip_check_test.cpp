#include "checkpoint/zip_check.h"

#include <pagoda/base/error.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/tower_fixtures.h"

namespace pagoda {
namespace zip_check_test {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string number(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// The part that an entry's local header and its directory entry have in common.
std::string header_of(const std::pair<std::string, std::string>& entry) {
  const auto& [name, content] = entry;
  const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
  return number(20, 2) + number(0, 8) + number(crc32_z(0, bytes, content.size()), 4) +
         number(content.size(), 4) + number(content.size(), 4) + number(name.size(), 2) +
         number(0, 2);
}

/// A plain zip archive with stored entries, as the specification describes it.
std::string zip_of(const Entries& entries) {
  std::string archive;
  std::string directory;
  for (const auto& entry : entries) {
    directory += number(0x02014b50, 4) + number(20, 2) + header_of(entry) + number(0, 10) +
                 number(archive.size(), 4) + entry.first;
    archive += number(0x04034b50, 4) + header_of(entry) + entry.first + entry.second;
  }
  return archive + directory + number(0x06054b50, 4) + number(0, 4) + number(entries.size(), 2) +
         number(entries.size(), 2) + number(directory.size(), 4) + number(archive.size(), 4) +
         number(0, 2);
}

const Entries kThree = {{"a/one", "first content"}, {"b", ""}, {"a/two", std::string(100, 'x')}};

std::string failure_of(const std::string& bytes) {
  return testing::message_of<DataError>([&] { check_zip(bytes, "the archive"); });
}

TEST(ZipCheckTest, AcceptsWhatIsWhole) {
  EXPECT_EQ(failure_of(zip_of({})), "");
  EXPECT_EQ(failure_of(zip_of({{"one", "content"}})), "");
  EXPECT_EQ(failure_of(zip_of(kThree)), "");
}

TEST(ZipCheckTest, EveryFlippedBitOfAContentIsReportedWithItsEntry) {
  for (const auto& [name, content] : kThree) {
    const std::string archive = zip_of(kThree);
    const std::size_t begin = archive.find(name) + name.size();
    for (std::size_t bit = 0; bit < 8 * content.size(); ++bit) {
      std::string damaged = archive;
      damaged[begin + bit / 8] = static_cast<char>(damaged[begin + bit / 8] ^ (1 << bit % 8));
      const std::string message = failure_of(damaged);
      ASSERT_NE(message.find("the archive"), std::string::npos) << "bit " << bit << " of " << name;
      ASSERT_NE(message.find("'" + name + "'"), std::string::npos) << message;
    }
  }
}

TEST(ZipCheckTest, EveryOtherLengthIsRefused) {
  const std::string archive = zip_of(kThree);
  for (std::size_t length = 0; length < archive.size(); ++length) {
    EXPECT_NE(failure_of(archive.substr(0, length)), "") << length << " bytes";
  }
  EXPECT_NE(failure_of(archive + "x"), "");
}

// What a header says must not be trusted: any value may lead out of the file.
TEST(ZipCheckTest, NoByteOfAHeaderLeadsOutOfTheArchive) {
  const std::string archive = zip_of(kThree);
  for (std::size_t at = 0; at < archive.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = archive;
      damaged[at] = static_cast<char>(value);
      failure_of(damaged);  // either nothing or a DataError
    }
  }
}

struct Forgery {
  const char* what;
  std::size_t from_end;  // place, counted from the archive's end
  std::string bytes;
  const char* message;
};

TEST(ZipCheckTest, SaysWhatIsWrong) {
  const Entries one = {{"one", "content"}};
  const std::size_t entry = 22 + 46 + 3;  // the directory's only entry begins so far from the end
  const Forgery forgeries[] = {
      {"no end record", 22, "XXXX", "its end is missing"},
      {"more entries than there are", 22 - 10, number(2, 2), "its directory is broken"},
      {"directory elsewhere", 22 - 16, number(3, 4), "its directory is broken"},
      {"directory past the end", 22 - 16, number(0xFFFFFFF0, 4), "its directory is broken"},
      {"compressed", entry - 10, number(8, 2), "compressed"},
      {"a directory", entry - 38, number(0x10, 4), "directory"},
      {"content elsewhere", entry - 42, number(1, 4), "not where it should be"},
      {"content too long", entry - 20, number(5000, 4) + number(5000, 4), "cut off"},
      {"a 64-bit size without its field", entry - 20, number(~0u, 4) + number(~0u, 4),
       "entry 'one'"},
      {"lost size and checksum", entry - 16, number(0, 12), "not what the directory says"},
      {"a name past the end", entry - 28, number(60000, 2), "in the middle of a record"},
  };
  ASSERT_EQ(failure_of(zip_of(one)), "");
  for (const auto& [what, from_end, bytes, message] : forgeries) {
    std::string archive = zip_of(one);
    archive.replace(archive.size() - from_end, bytes.size(), bytes);
    EXPECT_NE(failure_of(archive).find(message), std::string::npos)
        << what << ": " << failure_of(archive);
  }
}

}  // namespace zip_check_test
}  // namespace pagoda
