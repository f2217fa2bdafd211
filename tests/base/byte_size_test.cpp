#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace byte_size_test {

TEST(ByteSizeTest, TextHasTheLargestUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(3 << 19), "1.5 MiB");
  EXPECT_EQ(bytes_text(std::int64_t{5} << 30), "5.0 GiB");
}

TEST(ByteSizeTest, ReadsNumbersWithUnits) {
  EXPECT_EQ(parse_bytes("1048576"), 1048576);
  EXPECT_EQ(parse_bytes("7B"), 7);
  EXPECT_EQ(parse_bytes("2GiB"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1.5 gib"), std::int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("500MB"), 500'000'000);
  EXPECT_EQ(parse_bytes("3kb"), 3000);
  EXPECT_EQ(parse_bytes("1TiB"), std::int64_t{1} << 40);
}

TEST(ByteSizeTest, RefusesWhatIsNoSize) {
  for (const char* text : {"", "GiB", "2 parsecs", "2Gi", "two", "2GiB!", "-1GiB", "0", "0.2B",
                           "nan", "inf", "1e3", "99999999999TiB", "0x10"}) {
    EXPECT_THROW(parse_bytes(text), UsageError) << text;
  }
}

}  // namespace byte_size_test
}  // namespace pagoda
