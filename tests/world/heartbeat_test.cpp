#include "world/heartbeat.h"

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

}  // namespace heartbeat_test
}  // namespace pagoda
