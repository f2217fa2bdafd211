#include "base/file_tensor.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace file_tensor_test {

using Shape = std::vector<std::int64_t>;

TEST(FileTensorTest, BytesAreCountedUnlessTheyCannotBe) {
  EXPECT_EQ(byte_count(at::kFloat, {}), 4u);
  EXPECT_EQ(byte_count(at::kDouble, {3, 5}), 120u);
  EXPECT_EQ(byte_count(at::kLong, {3, 0, 5}), 0u);
  EXPECT_EQ(byte_count(at::kByte, Shape(kMostDimensions, 1)), 1u);
  const std::int64_t large = std::int64_t{1} << 40;
  for (const Shape& shape : {Shape{-1}, Shape{large, large}, Shape{0, large, large},
                             Shape{INT64_MAX}, Shape(kMostDimensions + 1, 1)}) {
    EXPECT_EQ(byte_count(at::kFloat, shape), std::nullopt) << shape_text(shape);
  }
}

TEST(FileTensorTest, ShapesAreTexts) {
  EXPECT_EQ(shape_text({}), "[]");
  EXPECT_EQ(shape_text({2, 0, 7}), "[2, 0, 7]");
  EXPECT_EQ(shape_text(Shape(9, 1)), "[1, 1, 1, 1, 1, 1, 1, 1, …]");
}

TEST(FileTensorTest, ATensorLiesInTheOwnersMemoryWhereItIsAligned) {
  const auto memory = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3});
  const auto bytes = std::string_view(reinterpret_cast<const char*>(memory->data()), 24);
  at::Tensor whole = tensor_of({"x", at::kDouble, {3}, bytes}, memory);
  EXPECT_TRUE(whole.equal(at::tensor({1.0, 2.0, 3.0}, at::kDouble)));
  EXPECT_EQ(whole.const_data_ptr(), memory->data());
  EXPECT_EQ(memory.use_count(), 2);
  whole.reset();
  EXPECT_EQ(memory.use_count(), 1);

  std::string shifted = "_" + std::string(bytes);
  const FileTensor odd{"x", at::kDouble, {3, 1}, std::string_view(shifted).substr(1)};
  EXPECT_TRUE(
      tensor_of(odd, memory).equal(at::tensor({1.0, 2.0, 3.0}).to(at::kDouble).view({3, 1})));
  EXPECT_NE(tensor_of({"x", at::kDouble, {3}, bytes}, nullptr).const_data_ptr(), memory->data());
  EXPECT_EQ(tensor_of({"x", at::kDouble, {0, 5}, bytes.substr(8, 0)}, memory).sizes(),
            (Shape{0, 5}));
}

}  // namespace file_tensor_test
}  // namespace pagoda
