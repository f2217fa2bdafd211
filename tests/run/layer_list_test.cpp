#include "run/layer_list.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace layer_list_test {

TEST(LayerListTest, IsWholeNumbersWithCommasInBetween) {
  EXPECT_EQ(parse_layers("2,10,1"), (std::vector<int>{2, 10, 1}));
  EXPECT_EQ(parse_layers("7"), std::vector<int>{7});
  for (const char* text : {"", ",", "2,", ",2", "2;2", "two", "2,,2", " 2", "99999999999"})
    EXPECT_THROW(parse_layers(text), UsageError) << text;
}

TEST(LayerListTest, TextIsReadBack) {
  EXPECT_EQ(layers_text(parse_layers("2,10,1")), "2,10,1");
  EXPECT_EQ(layers_text({}), "");
}

}  // namespace layer_list_test
}  // namespace pagoda
