#include "tower/batch_norm_exchange.h"

#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/tower_fixtures.h"

namespace pagoda {
namespace batch_norm_exchange_test {

using testing::message_of;
using Pass = BatchNormExchange::Pass;

constexpr auto kLong = std::chrono::minutes(1);

std::vector<double> values_of(const std::vector<at::Tensor>& tensors) {
  std::vector<double> values;
  for (const auto& tensor : tensors) values.push_back(tensor.item<double>());
  return values;
}

TEST(BatchNormExchangeTest, EveryTowerGetsAllNumbersInTowerOrder) {
  for (const int towers : {1, 2, 3, 8}) {
    BatchNormExchange exchange(towers, kLong);
    for (int step = 0; step < 3; ++step) {
      exchange.begin_step(std::vector<int>(static_cast<std::size_t>(towers), 2));
      std::vector<std::future<std::vector<double>>> found;
      for (int tower = 0; tower < towers; ++tower) {
        found.push_back(std::async(std::launch::async, [&exchange, tower] {
          std::vector<double> all;
          for (int feed = 0; feed < 2; ++feed) {
            exchange.next_feed(tower);
            for (const Pass pass : {Pass::forward, Pass::backward}) {
              for (int call = 0; call < 3; ++call) {
                for (const double value : values_of(exchange.exchange(
                         {tower, feed, call, pass}, torch::tensor(100.0 * call + tower))))
                  all.push_back(value);
              }
            }
          }
          exchange.end_feeds(tower);
          return all;
        }));
      }
      std::vector<double> expected;
      for (int part = 0; part < 4; ++part) {
        for (int call = 0; call < 3; ++call) {
          for (int tower = 0; tower < towers; ++tower) expected.push_back(100.0 * call + tower);
        }
      }
      for (auto& one : found) EXPECT_EQ(one.get(), expected);
    }
  }
}

TEST(BatchNormExchangeTest, TowersWithoutTheFeedAreNotWaitedFor) {
  BatchNormExchange exchange(3, kLong);
  exchange.begin_step({2, 0, 1});
  exchange.next_feed(0);
  auto other = std::async(std::launch::async, [&] {
    exchange.next_feed(2);
    return values_of(exchange.exchange({2, 0, 0, Pass::forward}, torch::tensor(5.0)));
  });
  const std::vector<double> both = {4, 5};
  EXPECT_EQ(values_of(exchange.exchange({0, 0, 0, Pass::forward}, torch::tensor(4.0))), both);
  EXPECT_EQ(other.get(), both);
  exchange.end_feeds(2);
  exchange.next_feed(0);
  EXPECT_EQ(values_of(exchange.exchange({0, 1, 0, Pass::forward}, torch::tensor(6.0))),
            std::vector<double>{6});
}

TEST(BatchNormExchangeTest, WaitingEndsWhenAnotherTowerFails) {
  BatchNormExchange exchange(2, kLong);
  exchange.begin_step({1, 1});
  auto waiting = std::async(std::launch::async, [&] {
    exchange.next_feed(0);
    exchange.exchange({0, 0, 0, Pass::forward}, torch::tensor(1.0));
  });
  exchange.abort();
  EXPECT_THROW(waiting.get(), TowerInterrupted);
  exchange.begin_step({1, 0});
  exchange.next_feed(0);
  EXPECT_EQ(exchange.exchange({0, 0, 0, Pass::forward}, torch::tensor(1.0)).size(), 1u)
      << "the next step begins anew";
}

TEST(BatchNormExchangeTest, ATowerThatMakesFewerCallsIsNamed) {
  BatchNormExchange exchange(2, kLong);
  exchange.begin_step({1, 1});
  exchange.next_feed(0);
  exchange.next_feed(1);
  exchange.end_feeds(1);
  const std::string text = message_of<UsageError>([&] {
    exchange.exchange({0, 0, 0, Pass::backward}, torch::tensor(1.0));
  });
  EXPECT_NE(text.find("tower 1 has ended its feed"), std::string::npos) << text;
}

TEST(BatchNormExchangeTest, TowersThatWaitInDifferentCallsAreLetGo) {
  BatchNormExchange exchange(3, kLong);
  exchange.begin_step({1, 1, 1});
  const auto called = [&exchange](int tower, int call, Pass pass) {
    return std::async(std::launch::async, [&exchange, tower, call, pass] {
      exchange.next_feed(tower);
      try {
        exchange.exchange({tower, 0, call, pass}, torch::tensor(1.0));
        return std::string("met");
      } catch (const TowerInterrupted&) {
        return std::string("interrupted");
      } catch (const UsageError& error) {
        exchange.abort();
        return std::string(error.what());
      }
    });
  };
  std::vector<std::future<std::string>> towers;
  towers.push_back(called(0, 1, Pass::forward));
  towers.push_back(called(1, 0, Pass::backward));
  towers.push_back(called(2, 0, Pass::backward));
  int told = 0;
  for (auto& tower : towers) {
    const std::string text = tower.get();
    told += text.find("all wait for each other in different ones") != std::string::npos ? 1 : 0;
    EXPECT_NE(text, "met");
  }
  EXPECT_GE(told, 1);
}

TEST(BatchNormExchangeTest, ALateTowerIsNamed) {
  BatchNormExchange exchange(3, std::chrono::milliseconds(1));
  exchange.begin_step({1, 1, 0});
  exchange.next_feed(0);
  const std::string text = message_of<DeviceError>([&] {
    exchange.exchange({0, 0, 0, Pass::forward}, torch::tensor(1.0));
  });
  EXPECT_NE(text.find("waited for tower 1 longer"), std::string::npos) << text;
}

TEST(BatchNormExchangeTest, ATurnIsItsThreadsAndEndsItsFeeds) {
  EXPECT_EQ(BatchNormTurn::here(), nullptr);
  const auto exchange = std::make_shared<BatchNormExchange>(2, kLong);
  exchange->begin_step({1, 1});
  {
    BatchNormTurn turn(exchange, 1, 7);
    EXPECT_EQ(BatchNormTurn::here(), &turn);
    EXPECT_EQ(turn.smallest_feed(), 7);
    turn.next_feed();
    EXPECT_EQ(turn.next_call().call, 0);
    EXPECT_EQ(turn.next_call().call, 1);
    EXPECT_EQ(std::async(std::launch::async, [] { return BatchNormTurn::here(); }).get(), nullptr);
  }
  EXPECT_EQ(BatchNormTurn::here(), nullptr);
  exchange->next_feed(0);
  EXPECT_THROW(exchange->exchange({0, 0, 0, Pass::forward}, torch::tensor(1.0)), UsageError);

  exchange->begin_step({1, 1});
  try {
    const BatchNormTurn turn(exchange, 1, 0);
    throw std::runtime_error("in the feed");
  } catch (const std::runtime_error&) {
  }
  exchange->next_feed(0);
  EXPECT_THROW(exchange->exchange({0, 0, 0, Pass::forward}, torch::tensor(1.0)), TowerInterrupted);
}

}  // namespace batch_norm_exchange_test
}  // namespace pagoda
