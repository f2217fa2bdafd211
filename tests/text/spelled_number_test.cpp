#include "text/spelled_number.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace spelled_number_test {

TEST(SpelledNumberTest, English) {
  EXPECT_EQ(english_number(0), "zero");
  EXPECT_EQ(english_number(13), "thirteen");
  EXPECT_EQ(english_number(40), "forty");
  EXPECT_EQ(english_number(101), "one hundred and one");
  EXPECT_EQ(english_number(2005), "two thousand and five");
  EXPECT_EQ(english_number(199'999),
            "one hundred and ninety-nine thousand nine hundred and ninety-nine");
  EXPECT_EQ(english_ordinal(1), "first");
  EXPECT_EQ(english_ordinal(12), "twelfth");
  EXPECT_EQ(english_ordinal(20), "twentieth");
  EXPECT_EQ(english_ordinal(23), "twenty-third");
  EXPECT_EQ(english_ordinal(14), "fourteenth");
  EXPECT_EQ(english_year(1905), "nineteen oh five");
  EXPECT_EQ(english_year(1900), "nineteen hundred");
  EXPECT_EQ(english_year(2003), "two thousand and three");
  EXPECT_EQ(english_year(2048), "twenty forty-eight");
}

TEST(SpelledNumberTest, French) {
  EXPECT_EQ(french_number(0), "zéro");
  EXPECT_EQ(french_number(17), "dix-sept");
  EXPECT_EQ(french_number(21), "vingt et un");
  EXPECT_EQ(french_number(71), "soixante et onze");
  EXPECT_EQ(french_number(77), "soixante-dix-sept");
  EXPECT_EQ(french_number(80), "quatre-vingts");
  EXPECT_EQ(french_number(81), "quatre-vingt-un");
  EXPECT_EQ(french_number(91), "quatre-vingt-onze");
  EXPECT_EQ(french_number(100), "cent");
  EXPECT_EQ(french_number(200), "deux cents");
  EXPECT_EQ(french_number(280), "deux cent quatre-vingts");
  EXPECT_EQ(french_number(1001), "mille un");
  EXPECT_EQ(french_number(80'200), "quatre-vingt mille deux cents");
  EXPECT_EQ(french_number(199'999),
            "cent quatre-vingt-dix-neuf mille neuf cent quatre-vingt-dix-neuf");
  EXPECT_EQ(french_feminine(1), "une");
  EXPECT_EQ(french_feminine(21), "vingt et une");
  EXPECT_EQ(french_feminine(11), "onze");
  EXPECT_EQ(french_feminine(71), "soixante et onze");
  EXPECT_EQ(french_feminine(81), "quatre-vingt-une");
}

}  // namespace spelled_number_test
}  // namespace pagoda
