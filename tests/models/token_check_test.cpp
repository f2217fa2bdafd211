#include "models/token_check.h"

#include <pagoda/base/error.h>

#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace token_check_test {

std::string complaint(const at::Tensor& tokens, std::int64_t vocabulary) {
  try {
    check_tokens(tokens, vocabulary, "candidate");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(TokenCheckTest, TakesEveryTokenOfTheVocabulary) {
  EXPECT_EQ(complaint(torch::arange(7), 7), "");
  EXPECT_EQ(complaint(torch::empty({0}, torch::kLong), 0), "");
}

TEST(TokenCheckTest, NamesTheFirstTokenOutsideWithItsPlace) {
  EXPECT_EQ(complaint(torch::tensor({3, 7, -1}), 7),
            "candidate 1 is token 7, which is outside the vocabulary of 7 tokens; tokens count "
            "from 0 to 6");
  EXPECT_NE(complaint(torch::tensor({3, -1, 7}), 7).find("candidate 1 is token -1"),
            std::string::npos);
}

TEST(TokenCheckTest, PlacesOfAViewAreItsOwn) {
  const at::Tensor columns = torch::tensor({{1, 50}, {2, 50}, {9, 50}});
  EXPECT_EQ(complaint(columns.select(1, 0), 10), "");
  EXPECT_NE(complaint(columns.select(1, 0), 9).find("candidate 2 is token 9"), std::string::npos);
}

}  // namespace token_check_test
}  // namespace pagoda
