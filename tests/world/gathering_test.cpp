#include "world/gathering.h"

#include <future>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "world/ranks.h"

namespace pagoda {
namespace gathering_test {

using namespace std::chrono_literals;

/// What each rank of one start finds.
std::vector<Gathered> start(c10d::Store& store, int size) {
  std::vector<std::future<Gathered>> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.push_back(std::async(std::launch::async, [&store, rank, size] {
      return gather_ranks(store, {.rank = rank, .size = size}, "host" + std::to_string(rank), 60s);
    }));
  }
  std::vector<Gathered> found;
  for (auto& rank : ranks) found.push_back(rank.get());
  return found;
}

TEST(GatheringTest, AllRanksFindTheSameStartAndEachOthersMachines) {
  c10d::HashStore store;
  for (const int size : {1, 2, 5}) {
    const auto found = start(store, size);
    for (const Gathered& one : found) {
      EXPECT_EQ(one.prefix, found[0].prefix);
      ASSERT_EQ(one.hosts.size(), static_cast<std::size_t>(size));
      for (int rank = 0; rank < size; ++rank)
        EXPECT_EQ(one.hosts[static_cast<std::size_t>(rank)], "host" + std::to_string(rank));
    }
  }
}

TEST(GatheringTest, EveryStartInTheSameStoreIsAnother) {
  c10d::HashStore store;
  const std::string first = start(store, 2)[0].prefix;
  EXPECT_NE(start(store, 2)[0].prefix, first);
  EXPECT_NE(start(store, 3)[0].prefix, first);
}

TEST(GatheringTest, ARankThatIsEarlyDoesNotTakeTheStartBeforeForItsOwn) {
  c10d::HashStore store;
  const std::string before = start(store, 2)[0].prefix;
  auto early = std::async(std::launch::async,
                          [&] { return gather_ranks(store, {.rank = 1, .size = 2}, "b", 60s); });
  while (!store.check({before + "rank/1"})) std::this_thread::yield();
  const Gathered leader = gather_ranks(store, {.rank = 0, .size = 2}, "a", 60s);
  EXPECT_EQ(early.get().prefix, leader.prefix);
  EXPECT_NE(leader.prefix, before);
}

TEST(GatheringTest, AStartThatWasBrokenOffDoesNotHinderTheNext) {
  c10d::HashStore store;
  EXPECT_NE(failure_of([&] { gather_ranks(store, {.rank = 0, .size = 2}, "a", 20ms); }), "");
  EXPECT_NE(failure_of([&] { gather_ranks(store, {.rank = 1, .size = 2}, "b", 20ms); }), "");
  EXPECT_EQ(start(store, 2).size(), 2u);
}

TEST(GatheringTest, SaysWhoHasNotCome) {
  c10d::HashStore store;
  EXPECT_EQ(failure_of([&] {
              gather_ranks(store, {.rank = 0, .size = 3, .master = "a", .port = 7}, "a", 20ms);
            }),
            "rank 0 of 3 waited 0.02 s at a:7 for rank 1, 2; were all processes started, with the "
            "same master?");
  c10d::HashStore empty;
  EXPECT_EQ(failure_of([&] {
              gather_ranks(empty, {.rank = 2, .size = 3, .master = "a", .port = 7}, "c", 20ms);
            }),
            "rank 2 of 3 waited 0.02 s at a:7 for rank 0, which has not come");
}

TEST(GatheringTest, SaysThatOthersUseTheStore) {
  c10d::HashStore store;
  start(store, 2);
  EXPECT_NE(failure_of([&] {
              gather_ranks(store, {.rank = 1, .size = 2}, "c", 20ms);
            }).find("is another run using this port"),
            std::string::npos);
}

TEST(GatheringTest, RefusesAnotherNumberOfProcessesOnEveryRank) {
  c10d::HashStore store;
  const auto refused = [&](int rank, int size) {
    return std::async(std::launch::async, [&store, rank, size] {
      return failure_of([&] {
        gather_ranks(store, {.rank = rank, .size = size}, "h" + std::to_string(rank), 60s);
      });
    });
  };
  auto leader = refused(0, 2);
  auto other = refused(1, 3);
  const std::string expected =
      "rank 1 (h1) was started as one of 3 processes, rank 0 (h0) as one of 2; give all the same "
      "number of processes";
  EXPECT_EQ(leader.get(), expected);
  EXPECT_EQ(other.get(), expected);
}

}  // namespace gathering_test
}  // namespace pagoda
