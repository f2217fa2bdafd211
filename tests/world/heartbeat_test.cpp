#include "world/heartbeat.h"

#include <latch>
#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

namespace pagoda {
namespace heartbeat_test {

TEST(HeartbeatTest, WhoNeverCameOrHasEndedIsSilent) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const Heartbeat first(store, "p/", 0);
  { const Heartbeat second(store, "p/", 1); }
  const Heartbeat fourth(store, "p/", 3);
  EXPECT_EQ(Heartbeat::silent(*store, "p/", 4), (std::vector<int>{1, 2}));
}

class LostStore : public c10d::HashStore {
 public:
  std::int64_t add(const std::string& /*key*/, std::int64_t /*value*/) override {
    throw std::runtime_error("connection reset");
  }
};

TEST(HeartbeatTest, KnowsThatItsStoreIsGone) {
  const Heartbeat heartbeat(c10::make_intrusive<c10d::HashStore>(), "p/", 0);
  EXPECT_FALSE(heartbeat.is_lost());
  const Heartbeat lost(c10::make_intrusive<LostStore>(), "p/", 0);
  while (!lost.is_lost()) std::this_thread::yield();
}

/// As on a link that was cut.
class StoreWithoutAnswers : public c10d::HashStore {
 public:
  StoreWithoutAnswers(std::latch& asked, std::latch& answer) : asked_(asked), answer_(answer) {}

  std::int64_t add(const std::string& /*key*/, std::int64_t /*value*/) override {
    asked_.count_down();
    answer_.wait();
    return 1;
  }

 private:
  std::latch& asked_;
  std::latch& answer_;
};

TEST(HeartbeatTest, ItsEndDoesNotWaitForAStoreThatDoesNotAnswer) {
  static std::latch asked(1);  // the thread is left to itself, and may outlive this test
  static std::latch answer(1);
  {
    const Heartbeat heartbeat(c10::make_intrusive<StoreWithoutAnswers>(asked, answer), "p/", 0);
    asked.wait();
  }
  answer.count_down();
}

}  // namespace heartbeat_test
}  // namespace pagoda
