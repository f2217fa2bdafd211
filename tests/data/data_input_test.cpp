#include <pagoda/data/data_input.h>

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace data_input_test {

TEST(DataInputTest, PartsCountLikeTheWhole) {
  const std::string text = "123456789";  // whose CRC-32 everyone tests with
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    DataInput input;
    add_content(input, std::string_view(text).substr(0, cut));
    add_content(input, std::string_view(text).substr(cut));
    EXPECT_EQ(input.bytes, 9);
    EXPECT_EQ(input.crc32, 0xCBF43926u);
  }
}

TEST(DataInputTest, PeopleReadSizeAndChecksum) {
  EXPECT_EQ((DataInput{.bytes = 30'730'000, .crc32 = 0xBEEF}).content_text(),
            "30,730,000 bytes, CRC-32 0000beef");
}

}  // namespace data_input_test
}  // namespace pagoda
