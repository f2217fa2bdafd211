#include <pagoda/base/number_text.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

namespace pagoda {
namespace number_text_test {

using Limits = std::numeric_limits<double>;

TEST(NumberTextTest, HasAsFewDigitsAsNeeded) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(25), "25");
  EXPECT_EQ(number_text(-1.5), "-1.5");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(100'000), "100000");
  EXPECT_EQ(number_text(1.0 / 3), "0.3333333333333333");
}

TEST(NumberTextTest, VerySmallAndVeryLargeOnesHaveAnExponent) {
  EXPECT_EQ(number_text(1e-4), "0.0001");
  EXPECT_EQ(number_text(9.9e-5), "9.9e-05");
  EXPECT_EQ(number_text(1e-7), "1e-07");
  EXPECT_EQ(number_text(-2.5e-300), "-2.5e-300");
  EXPECT_EQ(number_text(999'999'999'999'999), "999999999999999");
  EXPECT_EQ(number_text(1e15), "1e+15");
}

TEST(NumberTextTest, WhatIsNotFiniteIsNamed) {
  EXPECT_EQ(number_text(Limits::quiet_NaN()), "nan");
  EXPECT_EQ(number_text(Limits::infinity()), "inf");
  EXPECT_EQ(number_text(-Limits::infinity()), "-inf");
}

TEST(NumberTextTest, ReadsBackAsTheSameNumber) {
  for (int exponent = -1022; exponent < 1024; ++exponent) {
    for (const double number : {std::ldexp(1.0, exponent), std::ldexp(1 + 1.0 / 7, exponent),
                                -std::ldexp(2 - Limits::epsilon(), exponent)}) {
      EXPECT_EQ(std::strtod(number_text(number).c_str(), nullptr), number) << exponent;
    }
  }
}

}  // namespace number_text_test
}  // namespace pagoda
