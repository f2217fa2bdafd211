#include "program/size_expression.h"

#include <gtest/gtest.h>

#include "program/whole_numbers.h"

namespace pagoda {
namespace size_expression_test {

const std::string kS = "Symbol('s17', positive=True, integer=True)";
const SymbolValues kSymbols = {{"s17", 7}, {"s2", -3}};

TEST(SizeExpressionTest, FindsASymbolThatStandsAlone) {
  EXPECT_EQ(lone_symbol(kS), "s17");
  EXPECT_EQ(lone_symbol("Symbol('u0', integer=True)"), "u0");
  EXPECT_EQ(lone_symbol("Integer(3)"), std::nullopt);
  EXPECT_EQ(lone_symbol("Mul(Integer(2), " + kS + ")"), std::nullopt);
  EXPECT_EQ(lone_symbol("Symbol()"), std::nullopt);
}

TEST(SizeExpressionTest, ComputesSumsProductsPowersAndDivisionsRoundedDown) {
  EXPECT_EQ(value_of(kS, kSymbols), 7);
  EXPECT_EQ(value_of("Add(Mul(Integer(2), " + kS + "), Integer(-1))", kSymbols), 13);
  EXPECT_EQ(value_of("Pow(" + kS + ", Integer(2))", kSymbols), 49);
  EXPECT_EQ(value_of("FloorDiv(Symbol('s2', integer=True), Integer(2))", kSymbols), -2);
  EXPECT_EQ(value_of("Mod(Symbol('s2', integer=True), Integer(2))", kSymbols), 1);
  EXPECT_EQ(value_of("Max(" + kS + ", Integer(9), Integer(8))", kSymbols), 9);
  EXPECT_EQ(value_of("torch.utils._sympy.functions.FloorDiv(" + kS + ", Integer(2))", kSymbols), 3);
}

TEST(SizeExpressionTest, WhatItDoesNotKnowHasNoValue) {
  for (const std::string& text :
       {std::string(), std::string("Sin(Integer(1))"), "Add(" + kS, "Add(" + kS + "))",
        std::string("Symbol('other')"), std::string("Integer(99999999999999999999)"),
        std::string("Integer(x)"), std::string("FloorDiv(Integer(1), Integer(0))"),
        std::string("Mul(Integer(9223372036854775807), Integer(2))"), std::string("Add()"),
        std::string("(((((")}) {
    EXPECT_EQ(value_of(text, kSymbols), std::nullopt) << text;
  }
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "Add(";
  EXPECT_EQ(value_of(deep, kSymbols), std::nullopt);
}

TEST(SizeExpressionTest, IsWrittenForPeople) {
  EXPECT_EQ(readable("Add(Mul(Integer(2), " + kS + "), Integer(1))"), "(2*s17 + 1)");
  EXPECT_EQ(readable("FloorDiv(" + kS + ", Integer(2))"), "FloorDiv(s17, 2)");
}

TEST(WholeNumbersTest, ArePythonsWithoutOverflow) {
  EXPECT_EQ(floor_quotient(-7, 2), -4);
  EXPECT_EQ(floor_remainder(-7, 2), 1);
  EXPECT_EQ(floor_remainder(7, -2), -1);
  EXPECT_EQ(floor_remainder(INT64_MIN, -1), 0);
  EXPECT_EQ(floor_quotient(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(whole_power(3, 4), 81);
  EXPECT_EQ(whole_power(2, 62), std::int64_t{1} << 62);
  EXPECT_EQ(whole_power(2, 63), std::nullopt);
  EXPECT_EQ(whole_power(-2, 63), INT64_MIN);
  EXPECT_EQ(whole_power(5, -1), std::nullopt);
  EXPECT_EQ(whole_power(0, 0), 1);
}

}  // namespace size_expression_test
}  // namespace pagoda
