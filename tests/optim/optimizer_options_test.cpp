#include <pagoda/base/error.h>
#include <pagoda/optim/optimizer_options.h>

#include <limits>
#include <optional>
#include <string>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "optim/update_fixtures.h"

namespace pagoda {
namespace optimizer_options_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The text of the refusal; nothing if the options are taken.
template <class Options>
std::optional<std::string> refusal(const Options& options) {
  try {
    check(options);
    return std::nullopt;
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(OptimizerOptionsTest, UsualOptionsAreTaken) {
  for (const auto& [name, options] : pagoda::testing::every_optimizer()) {
    EXPECT_EQ(refusal(options), std::nullopt) << name;
  }
  for (const OptimizerOptions& defaults :
       {OptimizerOptions(Sgd{}), OptimizerOptions(Adam{}), OptimizerOptions(AdamW{}),
        OptimizerOptions(Adagrad{}), OptimizerOptions(RmsProp{})}) {
    EXPECT_EQ(refusal(defaults), std::nullopt) << defaults.index();
  }
}

TEST(OptimizerOptionsTest, NamesTheFieldThatIsOutOfRange) {
  struct Case {
    OptimizerOptions options;
    const char* named;
  };
  const Case cases[] = {
      {Sgd{.momentum = 1}, "momentum is 1; it must be at least 0 and below 1"},
      {Sgd{.momentum = -0.5}, "momentum is -0.5"},
      {Sgd{.momentum = 0.9, .dampening = 1.5}, "dampening is 1.5"},
      {Sgd{.nesterov = true}, "Nesterov momentum needs a momentum above 0 (it is 0)"},
      {Sgd{.momentum = 0.9, .dampening = 0.5, .nesterov = true}, "a dampening of 0 (it is 0.5)"},
      {Adam{.beta1 = 1}, "beta1 is 1"},
      {Adam{.beta2 = kNan}, "beta2 is nan"},
      {Adam{.epsilon = -1e-7}, "epsilon is -1e-07; it must be finite and at least 0"},
      {AdamW{.beta1 = -1}, "beta1 is -1"},
      {AdamW{.weight_decay = -2}, "weight decay is -2"},
      {Adagrad{.rate_decay = -1}, "rate decay is -1"},
      {Adagrad{.initial_accumulator = -1}, "initial accumulator is -1"},
      {Adagrad{.epsilon = std::numeric_limits<double>::infinity()}, "epsilon is inf"},
      {RmsProp{.alpha = 1}, "alpha is 1"},
      {RmsProp{.epsilon = -1}, "epsilon is -1"},
      {RmsProp{.momentum = 2}, "momentum is 2"},
  };
  for (const auto& [options, named] : cases) {
    const std::string text = refusal(options).value_or("taken");
    EXPECT_NE(text.find(named), std::string::npos) << named << ": " << text;
  }
}

TEST(OptimizerOptionsTest, RateIsThatOfTheChosenOptimizer) {
  EXPECT_EQ(learning_rate_of(Adagrad{.learning_rate = 0.125}).at(0), 0.125);
  EXPECT_EQ(
      learning_rate_of(Sgd{.learning_rate = StepDecay{.base = 1, .factor = 0.5, .every = 1}}).at(2),
      0.25);
}

TEST(UpdateOptionsTest, NamesTheFieldThatIsOutOfRange) {
  EXPECT_EQ(refusal(UpdateOptions{}), std::nullopt);
  EXPECT_EQ(refusal(UpdateOptions{.l2 = 1e-4, .moving_average = MovingAverage{}}), std::nullopt);
  EXPECT_EQ(refusal(UpdateOptions{.l2 = -1}).value_or("taken").rfind("l2 is -1", 0), 0u);
  EXPECT_EQ(refusal(UpdateOptions{.l2 = kNan}).value_or("taken").rfind("l2 is nan", 0), 0u);
  for (const double decay : {1.0, -0.5, kNan}) {
    const UpdateOptions options{.moving_average = MovingAverage{.decay = decay}};
    EXPECT_EQ(refusal(options).value_or("taken").rfind("decay of the moving average is", 0), 0u)
        << decay;
  }
}

TEST(MovingAverageTest, YoungAveragesForgetFaster) {
  const MovingAverage average{.decay = 0.5};
  EXPECT_DOUBLE_EQ(average.decay_at(1), 2.0 / 11);
  EXPECT_DOUBLE_EQ(average.decay_at(7), 8.0 / 17);
  EXPECT_DOUBLE_EQ(average.decay_at(8), 0.5);
  EXPECT_DOUBLE_EQ(average.decay_at(1000), 0.5);
}

TEST(MovingAverageTest, WithoutTheRuleTheDecayIsConstant) {
  const MovingAverage average{.decay = 0.9, .num_updates_rule = false};
  EXPECT_EQ(average.decay_at(1), 0.9);
  EXPECT_EQ(average.decay_at(1000), 0.9);
}

TEST(DecayScopeTest, WeightsHaveTwoOrMoreDimensions) {
  const std::vector<std::vector<std::int64_t>> shapes = {{}, {3}, {3, 1}, {1, 2, 3, 4}};
  for (const auto& shape : shapes) {
    const at::Tensor parameter = at::empty(shape);
    EXPECT_TRUE(decays(DecayScope::all, parameter)) << shape.size();
    EXPECT_EQ(decays(DecayScope::weights, parameter), shape.size() >= 2) << shape.size();
  }
}

}  // namespace optimizer_options_test
}  // namespace pagoda
