#include "base/zip_archive.h"

#include <pagoda/base/error.h>

#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/crafted_archive.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace zip_archive_test {

using Entries = testing::ArchiveEntries;

using testing::little_endian;
using testing::zip_of;

const Entries kThree = {{"a/one", "first content"}, {"b", ""}, {"a/two", std::string(100, 'x')}};

std::string failure_of(const std::string& bytes) {
  return testing::message_of<DataError>([&] { ZipArchive(bytes, "the archive"); });
}

TEST(ZipArchiveTest, AcceptsWhatIsWhole) {
  EXPECT_EQ(failure_of(zip_of({})), "");
  EXPECT_EQ(failure_of(zip_of({{"one", "content"}})), "");
  EXPECT_EQ(failure_of(zip_of(kThree)), "");
}

TEST(ZipArchiveTest, EveryFlippedBitOfAContentIsReportedWithItsEntry) {
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

TEST(ZipArchiveTest, EveryOtherLengthIsRefused) {
  const std::string archive = zip_of(kThree);
  for (std::size_t length = 0; length < archive.size(); ++length) {
    EXPECT_NE(failure_of(archive.substr(0, length)), "") << length << " bytes";
  }
  EXPECT_NE(failure_of(archive + "x"), "");
}

// What a header says must not be trusted: any value may lead out of the file.
TEST(ZipArchiveTest, NoByteOfAHeaderLeadsOutOfTheArchive) {
  const std::string archive = zip_of(kThree);
  for (std::size_t at = 0; at < archive.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = archive;
      damaged[at] = static_cast<char>(value);
      failure_of(damaged);  // either nothing or a DataError
    }
  }
}

TEST(ZipArchiveTest, GivesItsRecordsByName) {
  const std::string bytes = zip_of(kThree);
  const ZipArchive archive(bytes, "the archive");
  ASSERT_EQ(archive.records().size(), kThree.size());
  for (const auto& [name, content] : kThree) {
    ASSERT_NE(archive.find(name), nullptr) << name;
    EXPECT_EQ(archive.find(name)->bytes, content);
  }
  EXPECT_EQ(archive.find("a/on"), nullptr);
  EXPECT_EQ(archive.find("z"), nullptr);
}

TEST(ZipArchiveTest, NoNameStandsTwice) {
  EXPECT_NE(
      failure_of(zip_of({{"one", "a"}, {"two", "b"}, {"one", "c"}})).find("two entries 'one'"),
      std::string::npos);
}

// A small archive could ask for as much work as a large one.
TEST(ZipArchiveTest, RecordsThatShareBytesAreRefused) {
  const std::pair<std::string, std::string> entry = {"one", std::string(1 << 20, 'x')};
  const std::string local =
      little_endian(0x04034b50, 4) + testing::zip_header_of(entry) + entry.first + entry.second;
  constexpr std::size_t kEntries = 65535;
  const std::string directory = testing::repeated(testing::zip_directory_entry(entry, 0), kEntries);
  const std::string archive =
      local + directory + testing::zip_end(kEntries, directory.size(), local.size());
  EXPECT_NE(failure_of(archive).find("overlaps"), std::string::npos) << failure_of(archive);

  const std::string inner = zip_of({{"inner", "content"}}).substr(0, 30 + 5 + 7);
  const std::string outer = zip_of({{"outer", inner}});
  const std::string headers = testing::zip_directory_entry({"outer", inner}, 0) +
                              testing::zip_directory_entry({"inner", "content"}, 30 + 5);
  const std::size_t end = 30 + 5 + inner.size();
  const std::string nested =
      outer.substr(0, end) + headers + testing::zip_end(2, headers.size(), end);
  EXPECT_NE(failure_of(nested).find("'outer' overlaps"), std::string::npos) << failure_of(nested);
}

std::string deflated(const std::string& content) {
  std::string bytes(content.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

/// An archive of one compressed record that is said to have a size and a checksum.
std::string compressed_zip(const std::string& content, std::size_t size, std::uint32_t checksum) {
  const std::string stored = deflated(content);
  const std::string header = little_endian(20, 2) + little_endian(0, 2) + little_endian(8, 2) +
                             little_endian(0, 4) + little_endian(checksum, 4) +
                             little_endian(stored.size(), 4) + little_endian(size, 4) +
                             little_endian(3, 2) + little_endian(0, 2);
  const std::string local = little_endian(0x04034b50, 4) + header + "one" + stored;
  const std::string directory =
      little_endian(0x02014b50, 4) + little_endian(20, 2) + header + little_endian(0, 14) + "one";
  return local + directory + testing::zip_end(1, directory.size(), local.size());
}

TEST(ZipArchiveTest, CompressedRecordsAreCheckedWhereTheyAreAllowed) {
  const auto checked = [](const std::string& bytes) {
    return testing::message_of<DataError>(
        [&] { ZipArchive(bytes, "the archive", ZipArchive::Compressed::check); });
  };
  const std::string content(100'000, 'x');
  const std::uint32_t checksum = testing::checksum_of(content);
  const std::string archive = compressed_zip(content, content.size(), checksum);
  EXPECT_EQ(checked(archive), "");
  EXPECT_NE(failure_of(archive).find("compressed"), std::string::npos);
  EXPECT_NE(checked(compressed_zip(content, content.size(), checksum + 1)).find("checksum"),
            std::string::npos);
  for (const std::size_t size : {std::size_t{0}, content.size() - 1, content.size() + 1}) {
    EXPECT_NE(checked(compressed_zip(content, size, checksum)).find("'one' does not decompress"),
              std::string::npos);
  }
  EXPECT_NE(checked(compressed_zip(content, std::size_t{1} << 31, checksum)).find("larger than"),
            std::string::npos);
}

/// An archive of one record whose own header says its size in a ZIP64 field, as numpy writes it.
std::string wide_zip(const std::pair<std::string, std::string>& entry, std::uint64_t own_size) {
  const auto& [name, content] = entry;
  const std::string wide = little_endian(1, 2) + little_endian(16, 2) + little_endian(own_size, 8) +
                           little_endian(own_size, 8);
  const std::string local = little_endian(0x04034b50, 4) + little_endian(45, 2) +
                            little_endian(0, 8) + little_endian(testing::checksum_of(content), 4) +
                            little_endian(0xFFFFFFFF, 4) + little_endian(0xFFFFFFFF, 4) +
                            little_endian(name.size(), 2) + little_endian(wide.size(), 2) + name +
                            wide + content;
  const std::string directory = testing::zip_directory_entry(entry, 0);
  return local + directory + testing::zip_end(1, directory.size(), local.size());
}

TEST(ZipArchiveTest, ASmallRecordMaySayItsSizeIn64Bits) {
  const std::string archive = wide_zip({"one", "content"}, 7);
  EXPECT_EQ(ZipArchive(archive, "the archive").find("one")->bytes, "content");
  EXPECT_NE(failure_of(wide_zip({"one", "content"}, 8)).find("not what the directory says"),
            std::string::npos);
}

struct Forgery {
  const char* what;
  std::size_t from_end;  // place, counted from the archive's end
  std::string bytes;
  const char* message;
};

TEST(ZipArchiveTest, SaysWhatIsWrong) {
  const Entries one = {{"one", "content"}};
  const std::size_t entry = 22 + 46 + 3;  // the directory's only entry begins so far from the end
  const Forgery forgeries[] = {
      {"no end record", 22, "XXXX", "its end is missing"},
      {"more entries than there are", 22 - 10, little_endian(2, 2), "its directory is broken"},
      {"directory elsewhere", 22 - 16, little_endian(3, 4), "its directory is broken"},
      {"directory past the end", 22 - 16, little_endian(0xFFFFFFF0, 4), "its directory is broken"},
      {"compressed", entry - 10, little_endian(8, 2), "compressed"},
      {"a directory", entry - 38, little_endian(0x10, 4), "directory"},
      {"content elsewhere", entry - 42, little_endian(1, 4), "not where it should be"},
      {"content too long", entry - 20, little_endian(5000, 4) + little_endian(5000, 4), "cut off"},
      {"a 64-bit size without its field", entry - 20, little_endian(~0u, 4) + little_endian(~0u, 4),
       "entry 'one'"},
      {"lost size and checksum", entry - 16, little_endian(0, 12), "not what the directory says"},
      {"another name", 22 + 3, "two", "not what the directory says"},
      {"fewer entries than there are", 22 - 10, little_endian(0, 2), "its directory is broken"},
      {"a name past the end", entry - 28, little_endian(60000, 2), "in the middle of a record"},
  };
  ASSERT_EQ(failure_of(zip_of(one)), "");
  for (const auto& [what, from_end, bytes, message] : forgeries) {
    std::string archive = zip_of(one);
    archive.replace(archive.size() - from_end, bytes.size(), bytes);
    EXPECT_NE(failure_of(archive).find(message), std::string::npos)
        << what << ": " << failure_of(archive);
  }
}

}  // namespace zip_archive_test
}  // namespace pagoda
