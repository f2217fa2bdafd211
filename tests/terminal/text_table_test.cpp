#include <pagoda/terminal/text_table.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace text_table_test {

TEST(TextTableTest, WordsStandLeftAndNumbersRight) {
  EXPECT_EQ(text_table({{"way", "samples/s", "of the best"},
                        {"1 card", "1,200", "0.5"},
                        {"2 cards", "90", "12.25"}}),
            "way      samples/s  of the best\n"
            "1 card       1,200          0.5\n"
            "2 cards         90        12.25\n");
}

TEST(TextTableTest, AColumnWithOneWordStandsLeftAndLinesEndWithoutSpaces) {
  EXPECT_EQ(text_table({{"device", "limit"}, {"cpu:0", "-"}, {"sim:0", "2 GiB"}, {"sim:1", ""}}),
            "device  limit\n"
            "cpu:0   -\n"
            "sim:0   2 GiB\n"
            "sim:1\n");
}

TEST(TextTableTest, CharactersCountAndNotBytes) {
  EXPECT_EQ(shown_width("█▏→é"), 4u);
  EXPECT_EQ(text_table({{"mot", "n"}, {"été", "1"}, {"mots", "2"}}),
            "mot   n\n"
            "été   1\n"
            "mots  2\n");
}

TEST(TextTableTest, AHeadingAloneIsATable) {
  EXPECT_EQ(text_table({{"class", "images"}}), "class  images\n");
}

}  // namespace text_table_test
}  // namespace pagoda
