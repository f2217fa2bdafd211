#include "program/number_operators.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace number_operators_test {

using Values = std::vector<c10::IValue>;

c10::IValue result_of(const char* target, const Values& operands) {
  const NumberOperatorEntry known = number_operator(target);
  EXPECT_NE(known.run, nullptr) << target;
  EXPECT_EQ(known.operands, operands.size()) << target;
  return known.run(operands);
}

TEST(NumberOperatorsTest, WholeNumbersStayWhole) {
  EXPECT_EQ(result_of("_operator.add", {2, 3}).toInt(), 5);
  EXPECT_EQ(result_of("_operator.floordiv", {-7, 2}).toInt(), -4);
  EXPECT_EQ(result_of("_operator.mod", {-7, 2}).toInt(), 1);
  EXPECT_EQ(result_of("_operator.pow", {2, 10}).toInt(), 1024);
  EXPECT_EQ(result_of("torch.sym_max", {2, 9}).toInt(), 9);
  EXPECT_EQ(result_of("_operator.lshift", {3, 2}).toInt(), 12);
  EXPECT_EQ(result_of("math.trunc", {-2.5}).toInt(), -2);
  EXPECT_EQ(result_of("_operator.neg", {4}).toInt(), -4);
}

TEST(NumberOperatorsTest, OthersAreReal) {
  EXPECT_EQ(result_of("_operator.truediv", {1, 4}).toDouble(), 0.25);
  EXPECT_EQ(result_of("_operator.mul", {2, 1.5}).toDouble(), 3.0);
  EXPECT_EQ(result_of("torch.sym_float", {3}).toDouble(), 3.0);
  EXPECT_EQ(result_of("torch.sym_sqrt", {9}).toDouble(), 3.0);
}

TEST(NumberOperatorsTest, ComparisonsAndConditionsGiveTruthValues) {
  EXPECT_TRUE(result_of("_operator.lt", {2, 3}).toBool());
  EXPECT_FALSE(result_of("_operator.ge", {2, 2.5}).toBool());
  EXPECT_TRUE(result_of("_operator.and_", {true, true}).toBool());
  EXPECT_FALSE(result_of("torch.sym_not", {true}).toBool());
  EXPECT_EQ(result_of("torch.sym_ite", {false, 1, 2}).toInt(), 2);
}

TEST(NumberOperatorsTest, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(result_of("_operator.mul", {INT64_MAX, 2}), DataError);
  EXPECT_THROW(result_of("_operator.floordiv", {1, 0}), DataError);
  EXPECT_THROW(result_of("_operator.truediv", {1, 0}), DataError);
  EXPECT_THROW(result_of("torch.sym_int", {1e300}), DataError);
  EXPECT_EQ(number_operator("_operator.matmul").run, nullptr);
}

}  // namespace number_operators_test
}  // namespace pagoda
