#include <pagoda/base/error.h>
#include <pagoda/cli/preset.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace preset_test {

constexpr Preset kPresets[] = {{"small", "few epochs", "epochs = 2\n"},
                               {"large", "many epochs", "epochs = 200\n"}};

TEST(PresetTest, IsFoundByNameAndListed) {
  EXPECT_STREQ(find_preset(kPresets, "large").toml, "epochs = 200\n");
  EXPECT_EQ(preset_list(kPresets), "small: few epochs; large: many epochs");
}

TEST(PresetTest, AnUnknownOneIsRefusedWithTheListOfAll) {
  try {
    find_preset(kPresets, "fastest");
    FAIL() << "was found";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'fastest'"), std::string::npos) << text;
    EXPECT_NE(text.find(preset_list(kPresets)), std::string::npos) << text;
  }
}

}  // namespace preset_test
}  // namespace pagoda
