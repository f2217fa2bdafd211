#include "model/model_training.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "support/flag_training.h"

namespace pagoda::app {
namespace model_training_test {

using testing::FlagTraining;

TEST(ModelTrainingTest, TakesTheFlagsThatARunWasTrainedWith) {
  FlagTraining training;
  take_flags_of(testing::run_of("model = \"given\"\nepochs = 3\ndata = \"some where\"\n"),
                training);
  EXPECT_EQ(training.data, "some where");
  EXPECT_EQ(training.test_data, std::nullopt);
}

TEST(ModelTrainingTest, AnEntryThatTheModelDoesNotHaveIsNamed) {
  FlagTraining training;
  try {
    take_flags_of(testing::run_of("model = \"given\"\narms = 3\n"), training);
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("arms is not an option of given"), std::string::npos)
        << error.what();
  }
}

}  // namespace model_training_test
}  // namespace pagoda::app
