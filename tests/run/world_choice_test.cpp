#include <pagoda/base/error.h>
#include <pagoda/run/world_choice.h>

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace world_choice_test {

std::optional<WorldPlace> chosen(const WorldChoice& choice, bool launched = false) {
  return chosen_place(choice, [launched](const char* name) -> const char* {
    if (!launched) return nullptr;
    if (std::string(name) == "RANK") return "1";
    if (std::string(name) == "WORLD_SIZE") return "4";
    if (std::string(name) == "MASTER_ADDR") return "launched";
    return nullptr;
  });
}

TEST(WorldChoiceTest, WithoutAWordTheLauncherDecides) {
  EXPECT_FALSE(chosen({}));
  EXPECT_EQ(chosen({}, true)->master, "launched");
}

TEST(WorldChoiceTest, ByHandGoesBeforeTheLauncher) {
  const WorldPlace expected{.rank = 2, .size = 3, .master = "10.0.0.1", .port = 77};
  EXPECT_EQ(chosen({.rank = 2, .size = 3, .master = "10.0.0.1:77"}, true), expected);
}

TEST(WorldChoiceTest, OneProcessIsAlone) {
  EXPECT_FALSE(chosen({.rank = 0, .size = 1, .master = "a:1"}, true));
}

TEST(WorldChoiceTest, RefusesHalvesAndNumbersThatCannotBe) {
  for (const WorldChoice& choice :
       std::initializer_list<WorldChoice>{{.rank = 1},
                                          {.rank = 1, .size = 2},
                                          {.size = 2, .master = "a:1"},
                                          {.rank = 2, .size = 2, .master = "a:1"},
                                          {.rank = -1, .size = 2, .master = "a:1"},
                                          {.rank = 0, .size = 0, .master = "a:1"},
                                          {.rank = 0, .size = 2, .master = "a"},
                                          {.rank = 0, .size = 2, .master = ":1"},
                                          {.rank = 0, .size = 2, .master = "a:"},
                                          {.rank = 0, .size = 2, .master = "a:0"},
                                          {.rank = 0, .size = 2, .master = "a:65536"},
                                          {.rank = 0, .size = 2, .master = "a:1x"}}) {
    EXPECT_THROW(chosen(choice), UsageError) << choice.master;
  }
}

TEST(WorldChoiceTest, TimesAreSeconds) {
  const WorldOptions options = world_options({.join_timeout = std::chrono::duration<double>(1.5),
                                              .step_timeout = std::chrono::duration<double>(2)});
  EXPECT_EQ(options.join_timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(options.timeout, std::chrono::seconds(2));
  EXPECT_EQ(world_options({}).timeout, WorldOptions{}.timeout);
}

}  // namespace world_choice_test
}  // namespace pagoda
