#include "world/route.h"

#include <gtest/gtest.h>

#include "world/ranks.h"

namespace pagoda {
namespace route_test {

TEST(RouteTest, TheWayToThisMachineIsItsLoopback) {
  EXPECT_EQ(address_towards("127.0.0.1", 29500), "127.0.0.1");
  EXPECT_EQ(address_towards("127.0.0.1", 1), "127.0.0.1");
}

TEST(RouteTest, NamesAMachineThatIsUnknown) {
  const std::string text = failure_of([] { address_towards("no-such-host.invalid", 29500); });
  EXPECT_NE(text.find("'no-such-host.invalid', is unknown here"), std::string::npos) << text;
  EXPECT_NE(text.find("MASTER_ADDR"), std::string::npos) << text;
}

TEST(RouteTest, ThisMachineHasAName) { EXPECT_FALSE(host_name().empty()); }

}  // namespace route_test
}  // namespace pagoda
