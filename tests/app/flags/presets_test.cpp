#include "flags/presets.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace presets_test {

TEST(PresetsTest, AreFoundByNameAndListed) {
  for (const auto presets : {lenet5_presets(), seq2seq_presets()}) {
    for (const Preset& preset : presets) {
      EXPECT_STREQ(find_preset(presets, preset.name).toml, preset.toml);
      EXPECT_NE(preset_list(presets).find(std::string(preset.name) + ": " + preset.about),
                std::string::npos);
    }
  }
}

TEST(PresetsTest, AnUnknownOneIsRefusedWithTheListOfAll) {
  try {
    find_preset(lenet5_presets(), "fastest");
    FAIL() << "was found";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'fastest'"), std::string::npos) << text;
    EXPECT_NE(text.find(preset_list(lenet5_presets())), std::string::npos) << text;
  }
}

}  // namespace presets_test
}  // namespace pagoda::app
