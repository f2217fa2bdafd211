#include <pagoda/base/error.h>
#include <pagoda/optim/learning_rate.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace learning_rate_test {

struct ScheduleCase {
  const char* name;
  std::array<double, 21> rates;
};

const ScheduleCase kPytorchSchedules[] = {
#include "optim/pytorch_schedules.inc"
};

TEST(LearningRateTest, SchedulesAreThoseOfPytorch) {
  const std::map<std::string, LearningRate> ours = {
      {"exponential", ExponentialDecay{.base = 0.1, .rate = 0.9, .steps = 1}},
      {"step", StepDecay{.base = 0.1, .factor = 0.5, .every = 5}},
      {"cosine_annealing", CosineDecay{.base = 0.1, .final = 1e-4, .steps = 20}},
  };
  for (const auto& [name, rates] : kPytorchSchedules) {
    for (std::size_t step = 0; step < rates.size(); ++step) {
      const double rate = ours.at(name).at(static_cast<std::int64_t>(step));
      EXPECT_NEAR(rate, rates[step], 1e-12 * rates[step]) << name << ", step " << step;
    }
  }
}

TEST(LearningRateTest, NumberIsAlwaysThatRate) {
  const LearningRate rate = 0.25;
  for (const std::int64_t step : {0, 1, 1'000'000'000}) EXPECT_EQ(rate.at(step), 0.25);
}

TEST(LearningRateTest, ExponentIsContinuousOrAStaircase) {
  const LearningRate smooth = ExponentialDecay{.base = 8, .rate = 0.25, .steps = 2};
  const LearningRate stairs =
      ExponentialDecay{.base = 8, .rate = 0.25, .steps = 2, .staircase = true};
  const std::vector<std::pair<double, double>> expected = {
      {8, 8}, {4, 8}, {2, 2}, {1, 2}, {0.5, 0.5}};
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_DOUBLE_EQ(smooth.at(static_cast<std::int64_t>(step)), expected[step].first) << step;
    EXPECT_DOUBLE_EQ(stairs.at(static_cast<std::int64_t>(step)), expected[step].second) << step;
  }
}

TEST(LearningRateTest, ALineFallsByTheSameInEveryStepAndStaysAtItsEnd) {
  const LearningRate rate = LinearDecay{.base = 0.1, .final = 0.02, .steps = 8};
  for (std::int64_t step = 0; step < 8; ++step)
    EXPECT_NEAR(rate.at(step), 0.1 - 0.01 * static_cast<double>(step), 1e-15) << step;
  for (const std::int64_t step : {8, 9, 1000}) EXPECT_DOUBLE_EQ(rate.at(step), 0.02) << step;
}

TEST(LearningRateTest, CosineStaysAtItsEnd) {
  const LearningRate rate = CosineDecay{.base = 0.1, .final = 0.01, .steps = 10};
  for (const std::int64_t step : {10, 11, 20, 1000}) EXPECT_DOUBLE_EQ(rate.at(step), 0.01) << step;
}

TEST(LearningRateTest, InverseSquareRootCountsFromTheWarmUp) {
  for (const std::int64_t warmup : {0, 1, 4, 1000}) {
    const LearningRate rate = InverseSquareRootDecay{.base = 0.1, .warmup_steps = warmup};
    const auto w = static_cast<double>(warmup > 0 ? warmup : 1);
    for (const std::int64_t step : {0, 1, 3, 5000}) {
      EXPECT_DOUBLE_EQ(rate.at(warmup + step),
                       0.1 * std::sqrt(w / (w + static_cast<double>(step))));
    }
  }
}

TEST(LearningRateTest, WarmUpRisesLinearlyAndTheDecayCountsFromItsEnd) {
  constexpr std::int64_t kWarmup = 7;
  struct Case {
    const char* name;
    LearningRate warmed;
    LearningRate plain;
  };
  const Case cases[] = {
      {"constant", ConstantRate{.base = 0.3, .warmup_steps = kWarmup}, ConstantRate{.base = 0.3}},
      {"exponential",
       ExponentialDecay{.base = 0.3, .rate = 0.5, .steps = 3, .warmup_steps = kWarmup},
       ExponentialDecay{.base = 0.3, .rate = 0.5, .steps = 3}},
      {"step", StepDecay{.base = 0.3, .factor = 0.5, .every = 3, .warmup_steps = kWarmup},
       StepDecay{.base = 0.3, .factor = 0.5, .every = 3}},
      {"cosine", CosineDecay{.base = 0.3, .steps = 20, .warmup_steps = kWarmup},
       CosineDecay{.base = 0.3, .steps = 20}},
      {"linear", LinearDecay{.base = 0.3, .steps = 20, .warmup_steps = kWarmup},
       LinearDecay{.base = 0.3, .steps = 20}},
  };
  for (const auto& [name, warmed, plain] : cases) {
    for (std::int64_t step = 0; step < kWarmup; ++step) {
      const double part = static_cast<double>(step + 1) / kWarmup;
      EXPECT_DOUBLE_EQ(warmed.at(step), 0.3 * part) << name << ", step " << step;
    }
    for (std::int64_t step = 0; step < 30; ++step) {
      EXPECT_DOUBLE_EQ(warmed.at(kWarmup + step), plain.at(step)) << name << ", step " << step;
    }
  }
}

TEST(LearningRateTest, NamesWhatIsOutOfRange) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Case {
    std::function<LearningRate()> make;
    const char* named;
  };
  const Case cases[] = {
      {[] { return LearningRate(-0.5); },
       "learning rate is -0.5; it must be finite and at least 0"},
      {[] { return LearningRate(kNan); }, "learning rate is nan"},
      {[] { return LearningRate(kInfinity); }, "learning rate is inf"},
      {[] { return ConstantRate{.warmup_steps = -1}; }, "warm-up steps is -1"},
      {[] { return ExponentialDecay{.base = -1}; }, "learning rate is -1"},
      {[] { return ExponentialDecay{.rate = -1}; }, "decay rate is -1"},
      {[] { return ExponentialDecay{.steps = 0}; }, "decay steps is 0"},
      {[] { return StepDecay{.factor = -1e-7}; }, "decay factor is -1e-07"},
      {[] { return StepDecay{.factor = kNan}; }, "decay factor is nan"},
      {[] { return StepDecay{.every = 0}; }, "between decays is 0"},
      {[] { return CosineDecay{.final = -1}; }, "final learning rate is -1"},
      {[] { return CosineDecay{.steps = -5}; }, "decay steps is -5"},
      {[] { return InverseSquareRootDecay{.warmup_steps = -2}; }, "warm-up steps is -2"},
  };
  for (const auto& [make, named] : cases) {
    try {
      make();
      ADD_FAILURE() << named << " was taken";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
  }
}

}  // namespace learning_rate_test
}  // namespace pagoda
