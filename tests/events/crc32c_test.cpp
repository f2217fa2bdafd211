#include "events/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace crc32c_test {

std::string counting(int from, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(from + i * step);
  return bytes;
}

// RFC 3720, appendix B.4. The RFC prints the bytes in the order of transmission, lowest first.
TEST(Crc32cTest, EqualsTheExamplesOfTheRfc) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(counting(0, 1)), 0x46DD794Eu);
  EXPECT_EQ(crc32c(counting(31, -1)), 0x113FDB5Cu);
  const unsigned char read_command[48] = {
      0x01, 0xC0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0,
      0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0,    0};
  EXPECT_EQ(crc32c({reinterpret_cast<const char*>(read_command), sizeof(read_command)}),
            0xD9963A56u);
}

TEST(Crc32cTest, EqualsTheUsualCheckValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
}

// TensorFlow's event files start with 18 00 00 00 00 00 00 00 a3 7f 4b 22: a length and its
// checksum.
TEST(Crc32cTest, MasksAsTensorFlowDoes) {
  EXPECT_EQ(masked_crc32c(std::string("\x18\0\0\0\0\0\0\0", 8)), 0x224B7FA3u);
  EXPECT_EQ(masked_crc32c(""), 0xA282EAD8u);
}

}  // namespace crc32c_test
}  // namespace pagoda
