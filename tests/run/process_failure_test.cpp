#include <pagoda/base/error.h>
#include <pagoda/run/process_failure.h>

#include <stdexcept>

#include <gtest/gtest.h>

#include "world/ranks.h"

namespace pagoda {
namespace process_failure_test {

TEST(ProcessFailureTest, TheFailureOfOneIsThatOfAllAndHasItsName) {
  std::vector<std::string> texts(2);
  on_ranks(2, [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    try {
      named_failures(&world, [&] {
        if (rank == 1) throw UsageError("there is no such file");
        world.barrier();
      });
    } catch (const UsageError& error) {
      texts[rank] = "usage: " + std::string(error.what());
    } catch (const WorldError& error) {
      texts[rank] = error.what();
    }
  });
  EXPECT_TRUE(texts[0].starts_with("rank 1 (")) << texts[0];
  EXPECT_TRUE(texts[0].ends_with("): there is no such file")) << texts[0];
  EXPECT_EQ(texts[1], "usage: " + texts[0]);
}

TEST(ProcessFailureTest, OfOneThatIsAloneNothingChanges) {
  EXPECT_EQ(named_failures(nullptr, [] { return 7; }), 7);
  try {
    named_failures(nullptr, [] { throw std::out_of_range("as it was"); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "as it was");
  }
}

}  // namespace process_failure_test
}  // namespace pagoda
