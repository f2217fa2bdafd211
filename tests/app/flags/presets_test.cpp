#include "flags/presets.h"

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

}  // namespace presets_test
}  // namespace pagoda::app
