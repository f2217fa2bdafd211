#include <pagoda/text/chinese_spaces.h>

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace chinese_spaces_test {

TEST(ChineseSpacesTest, SpacesBetweenChineseCharactersGo) {
  EXPECT_EQ(without_chinese_spaces("你好 ， 朋友"), "你好，朋友");
  EXPECT_EQ(without_chinese_spaces("没 什么　好说的！  他"), "没什么好说的！他");
  EXPECT_EQ(without_chinese_spaces("他 说 “ 好 ” …"), "他说“好”…");
}

TEST(ChineseSpacesTest, SpacesBesideOtherScriptsStay) {
  for (const std::string text :
       {"how are you", "我用 Python 写", "烤? 我", "第 1 季", "", " ", "你好 "})
    EXPECT_EQ(without_chinese_spaces(text), text);
}

}  // namespace chinese_spaces_test
}  // namespace pagoda
