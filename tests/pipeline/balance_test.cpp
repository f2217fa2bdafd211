#include <pagoda/base/error.h>
#include <pagoda/pipeline/balance.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/random_streams.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace balance_test {

using testing::message_of;

double most_expensive(const std::vector<double>& costs, const std::vector<int>& stages) {
  double most = 0;
  auto next = costs.begin();
  for (const int layers : stages) {
    most = std::max(most, std::accumulate(next, next + layers, 0.0));
    next += layers;
  }
  return most;
}

/// Tries all cuts.
double best_possible(const std::vector<double>& costs, int stages) {
  if (stages == 1) return std::accumulate(costs.begin(), costs.end(), 0.0);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t first = 1; first + static_cast<std::size_t>(stages) - 1 <= costs.size();
       ++first) {
    const auto cut = costs.begin() + static_cast<std::ptrdiff_t>(first);
    best = std::min(best, std::max(std::accumulate(costs.begin(), cut, 0.0),
                                   best_possible({cut, costs.end()}, stages - 1)));
  }
  return best;
}

TEST(BalanceTest, IsAsGoodAsTheBestOfAllCuts) {
  SplitMix64 random(1);
  for (int layers = 1; layers <= 9; ++layers) {
    for (int stages = 1; stages <= layers; ++stages) {
      for (int round = 0; round < 20; ++round) {
        std::vector<double> costs;
        // Whole numbers: sums are exact, and some layers cost nothing.
        for (int i = 0; i < layers; ++i) costs.push_back(static_cast<double>(random.below(6)));
        const auto found = balance(costs, stages);
        EXPECT_NO_THROW(check_stages(found, layers));
        EXPECT_EQ(static_cast<int>(found.size()), stages);
        EXPECT_EQ(most_expensive(costs, found), best_possible(costs, stages));
      }
    }
  }
}

TEST(BalanceTest, KnownCuts) {
  EXPECT_EQ(balance({1, 1, 1, 3}, 2), (std::vector<int>{3, 1}));
  EXPECT_EQ(balance({5, 1, 1, 1}, 3), (std::vector<int>{1, 2, 1}));
  EXPECT_EQ(balance({0, 0, 0}, 3), (std::vector<int>{1, 1, 1}));
}

TEST(BalanceTest, EvenStagesGiveTheRestToTheFirst) {
  EXPECT_EQ(even_stages(7, 3), (std::vector<int>{3, 2, 2}));
  EXPECT_EQ(even_stages(4, 4), (std::vector<int>{1, 1, 1, 1}));
}

TEST(BalanceTest, WhatCannotBeIsRefused) {
  const auto text = [](auto work) { return message_of<UsageError>(work); };
  EXPECT_NE(text([] { balance({1, 2}, 3); }).find("2 layers"), std::string::npos);
  EXPECT_NE(text([] { balance({1}, 0); }).find("at least 1"), std::string::npos);
  EXPECT_NE(text([] { balance({1, -1}, 1); }).find("layer 1"), std::string::npos);
  EXPECT_NE(text([] { balance({std::nan("")}, 1); }).find("layer 0"), std::string::npos);
  EXPECT_NE(text([] { even_stages(3, 4); }).find("4 stages"), std::string::npos);
  EXPECT_NE(text([] { check_stages({2, 1}, 4); }).find("3 layers together"), std::string::npos);
  EXPECT_NE(text([] { check_stages({4, 0}, 4); }).find("stage 1 has 0"), std::string::npos);
  EXPECT_EQ(text([] { check_stages({3, 1}, 4); }), "");
}

}  // namespace balance_test
}  // namespace pagoda
