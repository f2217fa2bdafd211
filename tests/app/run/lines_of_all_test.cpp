#include "run/lines_of_all.h"

#include <gtest/gtest.h>

#include "world/ranks.h"

namespace pagoda::app {
namespace lines_of_all_test {

using Lines = std::vector<std::optional<std::string>>;

TEST(LinesOfAllTest, EveryRankGetsEveryLine) {
  const std::vector<std::string> expected{"", "1 1 a\n", std::string("\0 2", 3), " last"};
  const std::vector<Lines> own{{"", std::nullopt, std::nullopt, std::nullopt},
                               {"", std::nullopt, expected[2], std::nullopt},
                               {std::nullopt, expected[1], std::nullopt, expected[3]},
                               Lines(4)};
  std::vector<std::vector<std::string>> found(own.size());
  on_ranks(static_cast<int>(own.size()), [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    found[rank] = lines_of_all(&world, own[rank]);
  });
  for (const auto& lines : found) EXPECT_EQ(lines, expected);
}

TEST(LinesOfAllTest, AProcessThatIsAloneHasItsOwn) {
  EXPECT_EQ(lines_of_all(nullptr, {"a", std::nullopt}), (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(lines_of_all(nullptr, {}).empty());
}

}  // namespace lines_of_all_test
}  // namespace pagoda::app
