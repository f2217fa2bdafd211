#include "sim/sim_access.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace sim_access_test {

const SimStream kHome{1, 0};
const SimStream kOther{1, 3};

TEST(SimAccessTest, OneStreamNeedsNoOrder) {
  const SimClock nothing;
  const SimKnown known{nothing, nothing};
  SimAccess access({kHome, 4});
  access.write("fill", {kHome, 5}, known);
  access.read("sum", {kHome, 6}, known);
  access.write("fill", {kHome, 7}, known);
  EXPECT_EQ(access.freed(known), "");
}

TEST(SimAccessTest, AnotherStreamMustHaveWaited) {
  SimClock waited;
  const SimClock nothing;
  const SimKnown known{waited, nothing};
  SimAccess access({kHome, 4});
  try {
    access.read("aten::sum", {kOther, 1}, known);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "aten::sum reads on stream 3 of sim:1 what the default stream of sim:1 has not "
                 "finished writing; let it wait for an event that is recorded there");
  }
  waited.advance({kHome, 3});
  EXPECT_THROW(access.write("fill", {kOther, 1}, known), UsageError) << "not long enough";
  waited.advance({kHome, 4});
  access.read("sum", {kOther, 1}, known);
  access.read("sum", {kHome, 5}, {nothing, nothing});
  EXPECT_THROW(access.write("fill", {kHome, 6}, {nothing, nothing}), UsageError) << "still read";
  access.write("fill", {kHome, 6}, {nothing, [] {
                                      SimClock host;
                                      host.advance({kOther, 1});
                                      return host;
                                    }()});
}

TEST(SimAccessTest, MemoryIsNotFreedUnderAStreamThatUsesIt) {
  SimClock waited;
  waited.advance({kHome, 4});
  const SimClock nothing;
  const SimKnown none{nothing, nothing};
  SimAccess access({kHome, 4});
  access.read("sum", {kOther, 2}, {waited, nothing});
  EXPECT_EQ(access.freed(none),
            "memory of the default stream of sim:1 was freed while stream 3 of sim:1 still uses "
            "it; call record_stream on the tensor");
  SimClock came_back;
  came_back.advance({kOther, 2});
  EXPECT_EQ(access.freed({came_back, nothing}), "");
  access.record(kOther);
  EXPECT_EQ(access.freed(none), "");
}

}  // namespace sim_access_test
}  // namespace pagoda
