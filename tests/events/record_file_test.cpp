#include "events/record_file.h"

#include <pagoda/base/error.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/event_records.h"
#include "support/scratch_directory.h"

namespace pagoda {
namespace record_file_test {

using testing::FullDisk;
using testing::read_file;
using testing::read_records;
using testing::ScratchDirectory;
using testing::write_file;

using Records = std::vector<std::string>;

std::string failure_of(const auto& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

TEST(RecordFileTest, FramesARecordAsTensorFlowDoes) {
  const ScratchDirectory scratch;
  RecordFile file(scratch / "records", 1000);
  file.append("123456789");
  file.flush();
  // Checksums from TensorBoard's reader: masked_crc32c(b"\x09\0\0\0\0\0\0\0"),
  // masked_crc32c(b"123456789").
  EXPECT_EQ(
      read_file(scratch / "records"),
      std::string("\x09\0\0\0\0\0\0\0", 8) + "\x37\xF9\x71\x39" + "123456789" + "\xE5\xB0\x8A\xC7");
}

TEST(RecordFileTest, GivesBackWhatWasAppended) {
  const ScratchDirectory scratch;
  Records records{"", "a", std::string("n\0l", 3), std::string(100'003, 'x')};
  for (int i = 0; i < 101; ++i) records.push_back(std::string(static_cast<std::size_t>(i), 'r'));
  for (const std::size_t buffer_bytes : {0u, 1u, 17u, 64u << 10}) {
    const auto path = scratch / std::to_string(buffer_bytes);
    {
      RecordFile file(path, buffer_bytes);
      for (const std::string& record : records) file.append(record);
    }  // flushes
    EXPECT_EQ(read_records(path), records);
  }
}

TEST(RecordFileTest, CollectsUpToTheSizeOfTheBuffer) {
  const ScratchDirectory scratch;
  RecordFile file(scratch / "records", 40);
  file.append("1234");  // 20 bytes
  file.append("1234");
  EXPECT_EQ(read_file(scratch / "records").size(), 0u);
  file.append("1234");
  EXPECT_EQ(read_file(scratch / "records").size(), 40u);
  file.flush();
  EXPECT_EQ(read_file(scratch / "records").size(), 60u);
}

TEST(RecordFileTest, NeverTouchesAnExistingFile) {
  const ScratchDirectory scratch;
  write_file(scratch / "records", "old");
  const std::string message = failure_of([&] { RecordFile(scratch / "records", 0); });
  EXPECT_EQ(message, "cannot create " + (scratch / "records").string() + ": File exists");
  EXPECT_EQ(read_file(scratch / "records"), "old");
}

TEST(RecordFileTest, AMissingDirectoryIsAnIoError) {
  const ScratchDirectory scratch;
  const auto path = scratch / "missing" / "records";
  EXPECT_EQ(failure_of([&] { RecordFile(path, 0); }),
            "cannot create " + path.string() + ": No such file or directory");
}

// The disk is full at each byte of the second record in turn.
TEST(RecordFileTest, ContinuesWhereAFullDiskBrokeOff) {
  for (rlim_t limit = 21; limit <= 42; ++limit) {
    const ScratchDirectory scratch;
    RecordFile file(scratch / "records", 1000);
    for (const char* record : {"first", "secnd"}) file.append(record);  // 21 bytes each
    std::string message;
    {
      const FullDisk full(limit);
      message = failure_of([&] { file.flush(); });
      EXPECT_EQ(read_file(scratch / "records").size(), limit);
    }
    if (limit < 42) {
      EXPECT_EQ(message, "cannot write " + (scratch / "records").string() + ": File too large");
    }
    file.append("third");
    file.flush();
    EXPECT_EQ(read_records(scratch / "records"), (Records{"first", "secnd", "third"}));
  }
}

TEST(RecordFileTest, AFullDiskDoesNotFillTheMemory) {
  const ScratchDirectory scratch;
  RecordFile file(scratch / "records", 40);
  int refused = 0;
  {
    const FullDisk full(0);
    for (int i = 0; i < 100; ++i) {
      refused += failure_of([&] { file.append(std::to_string(1000 + i)); }).empty() ? 0 : 1;
    }
  }
  EXPECT_EQ(refused, 98);
  file.append("last");
  file.flush();
  EXPECT_EQ(read_records(scratch / "records"), (Records{"1000", "1001", "last"}));
}

TEST(RecordFileTest, ClosesQuietlyOnAFullDisk) {
  const ScratchDirectory scratch;
  const FullDisk full(0);
  RecordFile(scratch / "records", 1000).append("lost");
  EXPECT_EQ(read_file(scratch / "records"), "");
}

}  // namespace record_file_test
}  // namespace pagoda
