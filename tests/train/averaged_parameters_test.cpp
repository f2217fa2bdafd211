#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/sync_step.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/formula_data.h"
#include "support/machines.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace averaged_parameters_test {

using testing::all_equal;
using testing::copies;
using testing::cpu_devices;
using testing::in_double;
using testing::MeanSquare;
using testing::Tied;

/// Parameters: towers, placement.
class AveragedParametersTest
    : public ::testing::TestWithParam<std::tuple<int, ParameterPlacement>> {
 protected:
  Towers<Tied> towers_ =
      make_towers(cpu_devices(std::get<0>(GetParam())), [] { return in_double(Tied()); },
                  {.seed = 3, .placement = std::get<1>(GetParam())});

  void run_steps(SyncStep<Tied>& step, int count) {
    for (int i = 0; i < count; ++i)
      step.run(testing::feeds_of(testing::vector_feed, {4, 3}, i), MeanSquare{});
  }

  bool every_tower_has(const std::vector<at::Tensor>& values) const {
    for (int tower = 0; tower < towers_.size(); ++tower) {
      if (!all_equal(copies(towers_.table(tower).trainable), values)) return false;
    }
    return all_equal(copies(towers_.master().trainable), values);
  }
};
INSTANTIATE_TEST_SUITE_P(TowersAndPlacement, AveragedParametersTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kTowerCounts),
                                            ::testing::ValuesIn(kEveryPlacement)));

TEST_P(AveragedParametersTest, StandInForTheParametersAndGiveThemBack) {
  SyncStep step(towers_, Sgd{.learning_rate = 0.1},
                {.moving_average = MovingAverage{.decay = 0.9}});
  run_steps(step, 3);
  const auto parameters = copies(towers_.master().trainable);
  std::vector<at::Tensor> averages;
  for (const auto& average : step.updater().averages()) averages.push_back(average.clone());
  ASSERT_FALSE(all_equal(parameters, averages));
  {
    const AveragedParameters averaged(towers_, step);
    EXPECT_TRUE(every_tower_has(averages));
  }
  EXPECT_TRUE(every_tower_has(parameters));
  EXPECT_TRUE(all_equal(step.updater().averages(), averages));
}

TEST_P(AveragedParametersTest, AnExceptionGivesTheParametersBackToo) {
  SyncStep step(towers_, Sgd{.learning_rate = 0.1},
                {.moving_average = MovingAverage{.decay = 0.9}});
  run_steps(step, 1);
  const auto parameters = copies(towers_.master().trainable);
  EXPECT_THROW(
      {
        const AveragedParameters averaged(towers_, step);
        throw std::runtime_error("in between");
      },
      std::runtime_error);
  EXPECT_TRUE(every_tower_has(parameters));
}

TEST_P(AveragedParametersTest, TrainingGoesOnAsIfNothingHadBeen) {
  const StepOptions options{.moving_average = MovingAverage{.decay = 0.9}};
  SyncStep step(towers_, Adam{.learning_rate = 0.01}, options);
  run_steps(step, 2);
  {
    const AveragedParameters averaged(towers_, step);
  }
  run_steps(step, 2);

  auto others = make_towers(cpu_devices(towers_.size()), [] { return in_double(Tied()); },
                            {.seed = 3, .placement = towers_.replicas()->placement()});
  SyncStep uninterrupted(others, Adam{.learning_rate = 0.01}, options);
  run_steps(uninterrupted, 2);
  run_steps(uninterrupted, 2);
  EXPECT_TRUE(every_tower_has(copies(others.master().trainable)));
  EXPECT_TRUE(all_equal(step.updater().averages(), uninterrupted.updater().averages()));
}

TEST_P(AveragedParametersTest, WithoutAnAverageNothingChanges) {
  SyncStep step(towers_, Sgd{.learning_rate = 0.1});
  run_steps(step, 1);
  const auto parameters = copies(towers_.master().trainable);
  const AveragedParameters averaged(towers_, step);
  EXPECT_TRUE(every_tower_has(parameters));
}

}  // namespace averaged_parameters_test
}  // namespace pagoda
