#include <pagoda/run/picture.h>

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace picture_test {

TEST(PictureTest, ChannelsBecomePixels) {
  // Channel c, row y, column x holds 6c + 3y + x.
  const Picture picture = picture_of(at::arange(18, at::kByte).view({3, 2, 3}));
  EXPECT_EQ(picture.width, 3);
  EXPECT_EQ(picture.height, 2);
  ASSERT_EQ(picture.pixels.size(), 18u);
  for (std::size_t place = 0; place < 6; ++place) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(picture.pixels[3 * place + c], 6 * c + place);
  }
  EXPECT_EQ(picture.view().pixels.size(), 18u);
}

}  // namespace picture_test
}  // namespace pagoda
