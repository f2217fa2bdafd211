#include <pagoda/world/text_of_first.h>

#include <gtest/gtest.h>

#include "world/ranks.h"

namespace pagoda {
namespace text_of_first_test {

TEST(TextOfFirstTest, EveryRankGetsThatOfRank0) {
  for (const std::string& text :
       {std::string("a\n\0b", 4), std::string(), std::string(100'001, 'x')}) {
    std::vector<std::string> found(3);
    on_ranks(3, [&](World& world) {
      const std::string own = world.rank() == 0 ? text : "of rank " + std::to_string(world.rank());
      found[static_cast<std::size_t>(world.rank())] = text_of_first(world, own);
    });
    EXPECT_EQ(found, std::vector<std::string>(3, text));
  }
}

}  // namespace text_of_first_test
}  // namespace pagoda
