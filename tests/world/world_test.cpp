#include <pagoda/world/world.h>

#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "world/ranks.h"

namespace pagoda {
namespace world_test {

using namespace std::chrono_literals;

class WorldSizeTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, WorldSizeTest, ::testing::Values(1, 2, 3, 4));

TEST_P(WorldSizeTest, SumsOverAllRanks) {
  for (const std::int64_t count : {0, 1, 3, 1021}) {
    on_ranks(GetParam(), [&](World& world) {
      for (const auto type : {at::kDouble, at::kFloat, at::kLong}) {
        const at::Tensor values = torch::arange(count, type) * (world.rank() + 1);
        world.sum(values);
        const int n = world.size();
        EXPECT_TRUE(values.equal(torch::arange(count, type) * (n * (n + 1) / 2)));
      }
    });
  }
}

TEST_P(WorldSizeTest, BroadcastsFromAnyRank) {
  on_ranks(GetParam(), [&](World& world) {
    for (int from = 0; from < world.size(); ++from) {
      const at::Tensor values = torch::full({5}, world.rank(), at::kLong);
      world.broadcast(values, from);
      EXPECT_TRUE(values.equal(torch::full({5}, from, at::kLong)));
    }
  });
}

TEST_P(WorldSizeTest, GathersWhatDiffersInLength) {
  on_ranks(GetParam(), [&](World& world) {
    const auto rows = world.gather(torch::full({world.rank(), 2}, world.rank(), at::kFloat));
    const auto texts = world.gather(std::string(static_cast<std::size_t>(world.rank()), 'x'));
    const auto nothing = world.gather(std::string());
    ASSERT_EQ(static_cast<int>(rows.size()), world.size());
    for (int i = 0; i < world.size(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      EXPECT_TRUE(rows[index].equal(torch::full({i, 2}, i, at::kFloat)));
      EXPECT_EQ(texts[index], std::string(index, 'x'));
      EXPECT_EQ(nothing[index], "");
    }
  });
}

TEST_P(WorldSizeTest, CountsWhatItSends) {
  on_ranks(GetParam(), [&](World& world) {
    world.sum(torch::zeros({10}));
    world.barrier();
    const std::int64_t summed = 2 * (world.size() - 1) * 40 / world.size();
    EXPECT_EQ(world.traffic().bytes, summed);
    EXPECT_EQ(world.traffic().exchanges, 2);
    world.gather_equal(torch::zeros({3}));
    EXPECT_EQ(world.traffic().bytes, summed + (world.size() - 1) * 12);
  });
}

TEST_P(WorldSizeTest, SwapsReachTheRightRankWhateverOrderTheyAreWaitedForIn) {
  on_ranks(GetParam(), [&](World& world) {
    const auto value = [](int from, int to, int channel) { return from * 100 + to * 10 + channel; };
    std::vector<std::vector<at::Tensor>> received(3);
    std::vector<std::unique_ptr<Swap>> swaps(3);
    for (int turn = 0; turn < 3; ++turn) {
      const int channel = (turn + world.rank()) % 3;  // another order on each rank
      std::vector<at::Tensor> sent;
      auto& from = received[static_cast<std::size_t>(channel)];
      for (int rank = 0; rank < world.size(); ++rank) {
        // Rank r gets r elements: some get none.
        sent.push_back(torch::full({rank}, value(world.rank(), rank, channel), at::kLong));
        from.push_back(torch::full({world.rank()}, -1, at::kLong));
      }
      swaps[static_cast<std::size_t>(channel)] = world.start_swap(channel, sent, from);
    }
    for (int channel = 2; channel >= 0; --channel) {
      swaps[static_cast<std::size_t>(channel)]->wait();
      for (int rank = 0; rank < world.size(); ++rank) {
        const int expected = rank == world.rank() ? -1 : value(rank, world.rank(), channel);
        EXPECT_TRUE(
            received[static_cast<std::size_t>(channel)][static_cast<std::size_t>(rank)].equal(
                torch::full({world.rank()}, expected, at::kLong)));
      }
    }
  });
}

TEST(WorldTest, AFailureEndsASwapThatAnotherThreadWaitsFor) {
  on_ranks(2, [&](World& world) {
    if (world.rank() == 1) {  // never sends
      world.barrier();
      return;
    }
    const std::vector<at::Tensor> sent{at::Tensor(), at::Tensor()};
    const std::vector<at::Tensor> received{at::Tensor(), torch::zeros({4})};
    const auto swap = world.start_swap(0, sent, received);
    auto waiting =
        std::async(std::launch::async, [&] { return failure_of([&] { swap->wait(); }); });
    world.barrier();
    world.fail("out of luck");
    EXPECT_NE(waiting.get().find("rank 0 ("), std::string::npos);
    EXPECT_NE(failure_of([&] { world.start_swap(0, sent, received); }).find("out of luck"),
              std::string::npos);
  });
}

TEST(WorldTest, ARankThatFailsIsNamedToTheOthersWithItsReason) {
  on_ranks(3, [&](World& world) {
    world.barrier();
    if (world.rank() == 1) return world.fail("tower 0 (cpu:0), backward, step 341: out of luck");
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::string text = failure_of([&] { world.sum(torch::ones({3})); });
      EXPECT_NE(text.find("rank 1 ("), std::string::npos) << text;
      EXPECT_NE(text.find("): tower 0 (cpu:0), backward, step 341: out of luck"), std::string::npos)
          << text;
    }
  });
}

TEST(WorldTest, TheRankThatFailedCannotGoOnEither) {
  on_ranks(2, [&](World& world) {
    if (world.rank() == 1) world.fail("enough");
    EXPECT_NE(failure_of([&] { world.barrier(); }).find("enough"), std::string::npos);
  });
}

TEST(WorldTest, ARankThatDoesNotComeIsAFailureWithinTheTimeout) {
  std::promise<void> seen;
  on_ranks(2,
           [&](World& world) {
             if (world.rank() == 1) return seen.get_future().wait();  // alive, but elsewhere
             const std::string text = failure_of([&] { world.sum(torch::ones({3})); });
             EXPECT_NE(text.find("'sum' failed at rank 0"), std::string::npos) << text;
             EXPECT_NE(text.find("all processes are alive"), std::string::npos) << text;
             seen.set_value();
           },
           {.timeout = 200ms});
}

TEST(WorldTest, SaysWhenNobodyServesAtTheMastersPort) {
  const std::string text = failure_of([] {
    World::join({.rank = 1, .size = 2, .master = "127.0.0.1", .port = 1}, {.join_timeout = 300ms});
  });
  EXPECT_NE(text.find("rank 1 cannot reach rank 0 at 127.0.0.1:1: "), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(WorldTest, SaysWhenTheMasterIsUnknown) {
  const std::string text = failure_of([] {
    World::join({.rank = 1, .size = 2, .master = "no-such-host.invalid"}, {.join_timeout = 300ms});
  });
  EXPECT_NE(text.find("the machine of rank 0, 'no-such-host.invalid', is unknown here"),
            std::string::npos)
      << text;
}

TEST(WorldTest, AFailureIsSeenByThoseWhoExchangeNothing) {
  on_ranks(3, [](World& world) {
    EXPECT_FALSE(world.has_failed());
    world.barrier();
    if (world.rank() == 1) world.fail("no more");
    while (!world.has_failed()) std::this_thread::yield();
    EXPECT_NE(failure_of([&] { world.barrier(); }).find("no more"), std::string::npos);
  });
}

}  // namespace world_test
}  // namespace pagoda
