#include <pagoda/base/error.h>
#include <pagoda/train/stalled_rate.h>

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/training_bits.h"

namespace pagoda {
namespace stalled_rate_test {

using testing::cpu_devices;
using testing::feeds_of;
using testing::in_double;
using testing::MeanSquare;
using testing::Mlp;
using testing::vector_feed;

/// A step whose rate follows losses that are given.
struct Watched {
  Towers<Mlp> towers = make_towers(cpu_devices(2), [] { return in_double(Mlp()); });
  SyncStep<Mlp> step{towers, Sgd{.learning_rate = 0.5}};
  RunState state = {};

  /// After which of the losses the rate fell.
  std::vector<std::size_t> lowered(const std::vector<double>& losses, const StalledRate& rule) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (lower_stalled_rate(losses[i], rule, state, step)) places.push_back(i);
    }
    return places;
  }
};

using Places = std::vector<std::size_t>;

TEST(StalledRateTest, FallsAfterSoManyValidationsWithoutALowerLoss) {
  Watched watched;
  EXPECT_EQ(watched.lowered({5, 4, 4.5, 4, 3.9, 4, 4, 3.95, 4, 4, 4, 1}, {.factor = 0.5}),
            (Places{7, 10}));
  EXPECT_EQ(watched.state.rate_factor, 0.25);
  EXPECT_EQ(watched.step.rate_factor(), 0.25);
  EXPECT_EQ(watched.state.lowest_loss, 1);
}

TEST(StalledRateTest, ALossThatIsNoNumberIsNoGain) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Watched watched;
  EXPECT_EQ(watched.lowered({kNan, 2, kNan, 3}, {.factor = 0.1, .validations = 2}), (Places{3}));
  EXPECT_EQ(watched.state.lowest_loss, 2);
}

TEST(StalledRateTest, TheNextStepHasTheLowerRate) {
  Watched watched;
  const auto rate = [&] {
    return watched.step.run(feeds_of(vector_feed, {3, 3}, 0), MeanSquare()).learning_rate;
  };
  EXPECT_DOUBLE_EQ(rate(), 0.5);
  watched.lowered({1, 2}, {.factor = 0.1, .validations = 1});
  EXPECT_DOUBLE_EQ(rate(), 0.05);
}

TEST(StalledRateTest, RulesThatCannotBeAreRefused) {
  Watched watched;
  for (const StalledRate& rule : {StalledRate{.factor = 0}, StalledRate{.factor = 1},
                                  StalledRate{.factor = -1}, StalledRate{.validations = 0}}) {
    EXPECT_THROW(watched.lowered({1}, rule), UsageError);
  }
  EXPECT_THROW(watched.step.set_rate_factor(-1), UsageError);
  EXPECT_EQ(watched.step.rate_factor(), 1);
}

}  // namespace stalled_rate_test
}  // namespace pagoda
