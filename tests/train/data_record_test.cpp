#include <pagoda/base/error.h>
#include <pagoda/train/data_record.h>

#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace data_record_test {

using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

DataRecord sample() {
  return {.inputs = {{"train", "/data/a.bin", 30'730'000, 0x0badcafe},
                     {"train", "/data/b \"quoted\" #\\.bin", 7, 0},
                     {"vocabulary", "joint.txt", 1'000, 0xffffffff}},
          .counts = {{"train-samples", 50'000}, {"test-samples", 10'000}}};
}

TEST(DataRecordTest, IsReadAsItWasWritten) {
  const ScratchDirectory scratch;
  EXPECT_EQ(read_data_record(scratch.path()), std::nullopt);
  write_data_record(scratch.path(), sample());
  const auto read = read_data_record(scratch.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(data_differences(sample(), *read), "");
  EXPECT_EQ(read->inputs.at(1).name, sample().inputs[1].name);
  EXPECT_EQ(read->of_role("train").size(), 2u);
  EXPECT_EQ(read->of_role("test").size(), 0u);
  EXPECT_TRUE(read_file(scratch / "data.toml")
                  .find("\n[[input]]\nrole = \"train\"\nname = \"/data/a.bin\"\nbytes = 30730000\n"
                        "crc32 = \"0badcafe\"\n") != std::string::npos);
}

TEST(DataRecordTest, NamesOfFilesMayBeAnyBytes) {
  const ScratchDirectory scratch;
  write_data_record(scratch.path(), {.inputs = {{"pairs", "caf\xE9.tsv", 1, 2}}});
  EXPECT_EQ(read_data_record(scratch.path())->inputs.at(0).name, "caf\xEF\xBF\xBD.tsv");
}

TEST(DataRecordTest, TellsWhatHasChanged) {
  const DataRecord before = sample();
  DataRecord now = before;
  now.inputs[0].name = "/elsewhere/a.bin";
  EXPECT_EQ(data_differences(before, now), "") << "where a file lies does not matter";
  now.inputs[0].crc32 = 1;
  EXPECT_EQ(data_differences(before, now),
            "/elsewhere/a.bin (train): 30,730,000 bytes, CRC-32 0badcafe; now 30,730,000 bytes, "
            "CRC-32 00000001");
  now = before;
  now.counts["train-samples"] = 49'999;
  EXPECT_EQ(data_differences(before, now), "train-samples: 50,000; now 49,999");
  now = before;
  now.inputs.pop_back();
  EXPECT_EQ(data_differences(before, now),
            "joint.txt (vocabulary): 1,000 bytes, CRC-32 ffffffff; now nothing");
  EXPECT_EQ(data_differences(now, before),
            "joint.txt (vocabulary): nothing; now 1,000 bytes, CRC-32 ffffffff");
  now = before;
  std::swap(now.inputs[0], now.inputs[1]);
  EXPECT_NE(data_differences(before, now), "") << "the order of the samples counts";
}

TEST(DataRecordTest, ALongListIsCut) {
  DataRecord before;
  for (int i = 0; i < 9; ++i) before.inputs.push_back({"train", "f" + std::to_string(i), 1, 1});
  const std::string text = data_differences(before, {});
  EXPECT_EQ(text.find("f3"), std::string::npos);
  EXPECT_TRUE(text.ends_with("; and 6 more"));
}

TEST(DataRecordTest, ADamagedOrLaterRecordIsRefusedWithItsName) {
  const ScratchDirectory scratch;
  for (const char* text :
       {"", "format = 2\n", "format = \"1\"\n", "half a li",
        "format = 1\n[[input]]\nbytes = \"x\"\n", "format = 1\n[[input]]\ncrc32 = \"12\"\n",
        "format = 1\n[[input]]\ncrc32 = 12345678\n", "format = 1\nn = 1.5\n"}) {
    write_file(scratch / "data.toml", text);
    try {
      read_data_record(scratch.path());
      ADD_FAILURE() << text << " was read";
    } catch (const DataError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with((scratch / "data.toml").string()))
          << error.what();
    }
  }
}

}  // namespace data_record_test
}  // namespace pagoda
