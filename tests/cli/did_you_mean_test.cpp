#include "cli/did_you_mean.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace did_you_mean_test {

TEST(DidYouMeanTest, OneChangeInThreeLettersIsNear) {
  const std::vector<std::string> known{"train", "translate", "eval", "--batch-size"};
  EXPECT_EQ(nearest_word("trian", known), "train");   // neighbours swapped
  EXPECT_EQ(nearest_word("trains", known), "train");  // one too many
  EXPECT_EQ(nearest_word("tran", known), "train");    // one too few
  EXPECT_EQ(nearest_word("eva1", known), "eval");     // another one
  EXPECT_EQ(nearest_word("trasnlte", known), "translate");
  EXPECT_EQ(nearest_word("--bach-sise", known), "--batch-size");
  EXPECT_EQ(nearest_word("train", known), "train");
}

TEST(DidYouMeanTest, WhatIsFarHasNoAlternative) {
  EXPECT_EQ(nearest_word("bench", {"train", "eval"}), "");
  EXPECT_EQ(nearest_word("", {"train"}), "");
  EXPECT_EQ(nearest_word("ab", {"cd"}), "");
  EXPECT_EQ(nearest_word("train", {}), "");
}

}  // namespace did_you_mean_test
}  // namespace pagoda
