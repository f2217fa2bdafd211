#include "run/rate_factor.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace rate_factor_test {

TEST(RateFactorTest, IsAPatternAndANumber) {
  EXPECT_EQ(parse_rate_factor("head.*=10").names, "head.*");
  EXPECT_EQ(parse_rate_factor("head.*=10").factor, 10);
  EXPECT_EQ(parse_rate_factor("a=b=1e-3").names, "a=b");
  EXPECT_EQ(parse_rate_factor("a=b=1e-3").factor, 1e-3);
  EXPECT_EQ(parse_rate_factor("?=0").factor, 0);
  for (const char* text : {"", "=", "=3", "head", "head=", "head=x", "head=-1", "head=nan",
                           "head=inf", "head=1 ", "head= 1", "head=1,2"})
    EXPECT_THROW(parse_rate_factor(text), UsageError) << text;
}

TEST(RateFactorTest, TextIsReadBack) {
  for (const char* text : {"head.*=10", "a=b=0.001", "*=0"})
    EXPECT_EQ(rate_factor_text(parse_rate_factor(text)), text);
}

TEST(RateFactorTest, NamesAreNotEmpty) {
  EXPECT_EQ(parse_names("a.*"), "a.*");
  EXPECT_THROW(parse_names(""), UsageError);
}

}  // namespace rate_factor_test
}  // namespace pagoda
