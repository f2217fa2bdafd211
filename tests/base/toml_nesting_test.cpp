#include "base/toml_nesting.h"

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace toml_nesting_test {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(TomlNestingTest, AllowsWhatIsNotNested) {
  const std::string path = repeated("../", 100) + repeated("[{", 100);
  for (const std::string& text :
       {std::string(), "a = \"" + path + "\"\n", "a = '" + path + "'\n", "# " + path + "\n",
        "a = \"\"\"\n" + path + "\n\"\" \\\"\"\" " + path + "\"\"\"\n",
        "a = '''\n" + path + "\n''" + path + "'''\n", "a = [" + repeated("0.5, ", 1000) + "]\n",
        repeated("a.b = 1\n", 100), repeated("[a]\n", 100), "a = \"\\\"" + path + "\"\n"}) {
    EXPECT_EQ(find_deep_nesting(text), std::nullopt) << text;
  }
}

TEST(TomlNestingTest, FindsWhereItGetsTooDeep) {
  const std::string most = repeated("[", kMostTomlNesting);
  EXPECT_EQ(find_deep_nesting("a = " + most), std::nullopt);
  EXPECT_EQ(find_deep_nesting("a = " + most + "["), 4u + kMostTomlNesting);
  EXPECT_EQ(find_deep_nesting("a = " + repeated("[\n", kMostTomlNesting + 1)),
            4u + 2 * kMostTomlNesting);
  EXPECT_NE(find_deep_nesting(repeated("{a = [", kMostTomlNesting)), std::nullopt);
  EXPECT_EQ(find_deep_nesting("a" + repeated(".a", kMostTomlNesting)), std::nullopt);
  EXPECT_NE(find_deep_nesting("a" + repeated(".a", kMostTomlNesting + 1)), std::nullopt);
  EXPECT_NE(find_deep_nesting("a" + repeated(" . 'a'", kMostTomlNesting + 1)), std::nullopt);
}

TEST(TomlNestingTest, EndsWithTextThatDoesNot) {
  for (const std::string text :
       {"\"", "'", "\"\\", "\"\"\"", "'''", "\"\"\"\\", "#", "\"a\n[", "a = \"\"\""})
    EXPECT_EQ(find_deep_nesting(text), std::nullopt) << text;
}

}  // namespace toml_nesting_test
}  // namespace pagoda
