#include "params/span_kernels.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace span_kernels_test {

// Around the widths of vector registers and the eight sums of square_sum, and past a page of
// memory.
constexpr std::int64_t kCounts[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 101, 1024, 1025};

template <class T>
class SpanKernelsTest : public ::testing::Test {};

using ElementTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SpanKernelsTest, ElementTypes);

/// start, start + 1, …
template <class T>
std::vector<T> counting(std::int64_t count, T start) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(start + static_cast<T>(i));
  return values;
}

TYPED_TEST(SpanKernelsTest, ScaleWritesTheSpanAndNothingElse) {
  for (const std::int64_t count : kCounts) {
    std::vector<TypeParam> out(static_cast<std::size_t>(count) + 1, -1);
    scale_span(out.data(), counting<TypeParam>(count, 1).data(), TypeParam{0.5}, count);
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(out[static_cast<std::size_t>(i)], TypeParam{0.5} * static_cast<TypeParam>(i + 1))
          << i;
    }
    EXPECT_EQ(out.back(), -1) << count;
  }
}

TYPED_TEST(SpanKernelsTest, AddAddsToTheSpanAndNothingElse) {
  for (const std::int64_t count : kCounts) {
    std::vector<TypeParam> out = counting<TypeParam>(count + 1, 100);
    add_span(out.data(), counting<TypeParam>(count, 1).data(), TypeParam{-2}, count);
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(out[static_cast<std::size_t>(i)], static_cast<TypeParam>(100 + i - 2 * (i + 1)))
          << i;
    }
    EXPECT_EQ(out.back(), static_cast<TypeParam>(100 + count));
  }
}

// The sums are whole numbers up to 1.4e9: exact in double, not in float.
TYPED_TEST(SpanKernelsTest, SquareSumIsTakenInDoublePrecision) {
  for (const std::int64_t n : kCounts) {
    const std::vector<TypeParam> values = counting<TypeParam>(n, 1);
    const double sum = static_cast<double>(n * (n + 1) * (2 * n + 1) / 6);  // 1² + … + n²
    EXPECT_EQ(square_sum(values.data(), n), sum) << n;
    EXPECT_EQ(square_sum(values.data(), values.data(), 0.0, n), sum) << n;
    EXPECT_EQ(square_sum(values.data(), values.data(), 1.0, n), 4 * sum) << n;
    EXPECT_EQ(square_sum(std::vector<TypeParam>(values.size()).data(), values.data(), 0.5, n),
              sum / 4)
        << n;
  }
}

}  // namespace span_kernels_test
}  // namespace pagoda
