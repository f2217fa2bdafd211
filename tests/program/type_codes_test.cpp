#include "program/type_codes.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace type_codes_test {

TEST(TypeCodesTest, NumbersAreTheFilesOwn) {
  EXPECT_EQ(scalar_type_of(1), at::kByte);
  EXPECT_EQ(scalar_type_of(7), at::kFloat);
  EXPECT_EQ(scalar_type_of(8), at::kDouble);
  EXPECT_EQ(scalar_type_of(13), at::kBFloat16);
  EXPECT_EQ(scalar_type_of(35), at::ScalarType::UInt64);
  EXPECT_EQ(layout_of(7), at::kStrided);
  EXPECT_EQ(memory_format_of(2), at::MemoryFormat::ChannelsLast);
}

TEST(TypeCodesTest, OthersAreRefused) {
  for (const std::int64_t code : {-1, 0, 14, 27, 36}) EXPECT_THROW(scalar_type_of(code), DataError);
  for (const std::int64_t code : {0, 8}) EXPECT_THROW(layout_of(code), DataError);
  for (const std::int64_t code : {0, 5}) EXPECT_THROW(memory_format_of(code), DataError);
}

}  // namespace type_codes_test
}  // namespace pagoda
