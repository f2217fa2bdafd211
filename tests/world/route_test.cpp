#include "world/route.h"

#include <gtest/gtest.h>

#include "support/environment.h"
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

TEST(RouteTest, ANamedInterfaceGoesBeforeTheRoute) {
  {
    const testing::Environment loopback("GLOO_SOCKET_IFNAME", "lo");
    EXPECT_EQ(address_towards("192.0.2.1", 29500), "127.0.0.1");
  }
  const testing::Environment unknown("GLOO_SOCKET_IFNAME", "lo99");
  const std::string text = failure_of([] { address_towards("127.0.0.1", 29500); });
  EXPECT_NE(text.find("GLOO_SOCKET_IFNAME is 'lo99'"), std::string::npos) << text;
}

TEST(RouteTest, ThisMachineHasAName) { EXPECT_FALSE(host_name().empty()); }

}  // namespace route_test
}  // namespace pagoda
