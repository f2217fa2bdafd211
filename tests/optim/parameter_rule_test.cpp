#include <pagoda/base/error.h>
#include <pagoda/optim/parameter_rule.h>

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/tower_fixtures.h"

namespace pagoda {
namespace parameter_rule_test {

using testing::message_of;

TEST(ParameterRuleTest, PatternsMatchWholeNames) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "conv1.weight"));
  EXPECT_TRUE(matches("*.bias", "layers.3.bias"));
  EXPECT_TRUE(matches("layers.?.bias", "layers.3.bias"));
  EXPECT_TRUE(matches("l*s.*.b*s", "layers.3.bias"));
  EXPECT_TRUE(matches("conv1.weight", "conv1.weight"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("bias", "layers.3.bias"));
  EXPECT_FALSE(matches("layers", "layers.3.bias"));
  EXPECT_FALSE(matches("layers.?.bias", "layers.33.bias"));
  EXPECT_FALSE(matches("layers.?.bias", "layers..bias"));
  EXPECT_FALSE(matches("*.weight", "layers.3.bias"));
}

TEST(ParameterRuleTest, APatternThatFitsNothingIsToldWithWhatComesNear) {
  const std::vector<std::string> names = {"backbone.weight", "head.weight", "head.bias"};
  check({{.names = "head.*"}, {.names = "*.bias"}}, names);
  const std::string text = message_of<UsageError>([&] {
    check({{.names = "head.*"}, {.names = "haed.*"}}, names);
  });
  EXPECT_NE(text.find("no parameter fits the rule for 'haed.*'; near it are 'head.weight', "
                      "'head.bias'"),
            std::string::npos)
      << text;
  EXPECT_THROW(check({{.names = "*"}}, {}), UsageError);
}

TEST(ParameterRuleTest, NumbersAreFiniteAndNotNegative) {
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const ParameterRule& rule : {ParameterRule{.names = "*", .rate_factor = wrong},
                                      ParameterRule{.names = "*", .weight_decay = wrong},
                                      ParameterRule{.names = "*", .l2 = wrong}}) {
      EXPECT_THROW(check({rule}, {"p"}), UsageError);
    }
  }
}

}  // namespace parameter_rule_test
}  // namespace pagoda
