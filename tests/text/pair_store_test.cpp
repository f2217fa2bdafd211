#include <pagoda/text/pair_store.h>

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace pair_store_test {

std::vector<TokenId> sequence(std::int64_t number, std::size_t length) {
  std::vector<TokenId> tokens(length);
  std::iota(tokens.begin(), tokens.end(), static_cast<TokenId>(number * 31));
  return tokens;
}

TEST(TokenStoreTest, GivesBackEverySequence) {
  TokenStore store;
  // Empty ones, many small ones over several chunks, and one larger than a chunk in between.
  const auto length = [](std::int64_t i) -> std::size_t {
    return i == 5000 ? 300'000 : static_cast<std::size_t>(i * 7919 % 200);
  };
  for (std::int64_t i = 0; i < 10'000; ++i) store.add(sequence(i, length(i)));
  ASSERT_EQ(store.size(), 10'000);
  for (std::int64_t i = 0; i < 10'000; ++i) {
    const auto tokens = store[i];
    ASSERT_EQ(std::vector<TokenId>(tokens.begin(), tokens.end()), sequence(i, length(i))) << i;
  }
}

TEST(PairStoreTest, AMillionPairsNeedAFractionOfAGigabyte) {
  PairStore store;
  const auto tokens = sequence(1, 20);
  constexpr std::int64_t kPairs = 100'000;
  for (std::int64_t i = 0; i < kPairs; ++i) {
    store.sources.add(tokens);
    store.targets.add(tokens);
  }
  EXPECT_EQ(store.size(), kPairs);
  EXPECT_LT(store.bytes() * 11, 300'000'000);  // 1.1 million pairs
  EXPECT_GT(store.bytes(), kPairs * 2 * 20 * 4);
}

}  // namespace pair_store_test
}  // namespace pagoda
