#include "registry/known_models.h"

#include <pagoda/base/error.h>

#include <set>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace known_models_test {

StoredRun run_of(const std::string& model) {
  StoredRun run{.directory = "runs/a", .checkpoint = {}, .weights = {}};
  run.checkpoint.config = "model = \"" + model + "\"\n";
  return run;
}

TEST(KnownModelsTest, NoTwoHaveTheSameName) {
  std::set<std::string> names;
  for (const KnownModel& model : known_models()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_FALSE(model.about.empty()) << model.name;
  }
}

TEST(KnownModelsTest, EveryPresetIsFoundByNameAndListed) {
  for (const KnownModel& model : known_models()) {
    if (!model.training) continue;
    const auto training = model.training();
    for (const Preset& preset : training->presets()) {
      EXPECT_STREQ(find_preset(training->presets(), preset.name).toml, preset.toml);
      EXPECT_NE(
          preset_list(training->presets()).find(std::string(preset.name) + ": " + preset.about),
          std::string::npos);
    }
  }
}

TEST(KnownModelsTest, ARunIsOfTheModelThatItsConfigurationNames) {
  for (const KnownModel& model : known_models()) {
    if (model.training) {
      EXPECT_EQ(&model_of(run_of(model.name)), &model);
    } else {
      EXPECT_THROW(model_of(run_of(model.name)), UsageError);
    }
  }
}

TEST(KnownModelsTest, ARunOfAnotherProgramIsRefusedWithAListOfTheModels) {
  try {
    model_of(run_of("spiral"));
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "runs/a is a run of the model 'spiral', which this program does not know; it "
                 "knows lenet5, seq2seq, program");
  }
}

TEST(KnownModelsTest, EveryModelThatIsMeasuredHasLayersToCutItBetween) {
  for (const KnownModel& model : known_models()) {
    if (!model.measuring) continue;
    CLI::App command;
    const auto measuring = model.measuring();
    measuring->add_flags(command);
    EXPECT_GT(measuring->layers(), 1) << model.name;
  }
}

}  // namespace known_models_test
}  // namespace pagoda::app
