#include "optim/optimizer_traits.h"

#include <pagoda/base/error.h>

#include <cmath>
#include <string>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "optim/fused_updater.h"
#include "optim/optimizer_state.h"
#include "optim/update_fixtures.h"
#include "params/gradient_fixtures.h"

namespace pagoda {
namespace optimizer_traits_test {

using pagoda::testing::every_optimizer;
using pagoda::testing::filled;
using pagoda::testing::name_of;
using pagoda::testing::NamedOptimizer;

class OptimizerTraitsTest : public ::testing::TestWithParam<NamedOptimizer> {};
INSTANTIATE_TEST_SUITE_P(EveryOptimizer, OptimizerTraitsTest,
                         ::testing::ValuesIn(every_optimizer()), name_of);

// The promise by which an exact update may leave untouched rows out.
TEST_P(OptimizerTraitsTest, RestsWithoutGradientWhenAZeroGradientChangesNothing) {
  at::Tensor parameter = filled({5}, at::kDouble, [](auto i) { return std::sin(i + 1.0); });
  const OptimizerTraits traits = traits_of(GetParam().options);
  const std::vector<NamedTensor> parameters = {{"p", parameter}};
  OptimizerState state(parameters, traits.state, {}, BlockPlan(parameters).ranges(0, 1));
  const auto update = [&](const at::Tensor& gradient) {
    UpdateSpan<double> span{};
    span.parameter = parameter.mutable_data_ptr<double>();
    for (std::size_t i = 0; i < state.slots(); ++i) {
      span.state[i] = state.tensor(0, i).mutable_data_ptr<double>();
    }
    span.gradient = gradient.const_data_ptr<double>();
    span.count = parameter.numel();
    const ParameterTurn turn{.used = true, .update = state.count_update(0), .learning_rate = 0.1};
    update_span(step_of(GetParam().options, turn), 0, 0, span);
  };
  const auto everything = [&] {
    std::vector<at::Tensor> copies = {parameter.clone()};
    for (std::size_t i = 0; i < state.slots(); ++i) copies.push_back(state.tensor(0, i).clone());
    return copies;
  };

  update(at::full({5}, 0.5, at::kDouble));
  const auto before = everything();
  update(at::full({5}, 0.0, at::kDouble));
  const auto after = everything();
  bool changed = false;
  for (std::size_t i = 0; i < before.size(); ++i) changed |= !before[i].equal(after[i]);
  EXPECT_EQ(traits.rests_without_gradient, !changed);
}

ParameterTurn turn(std::int64_t update, double rate, double weight_decay = 0) {
  return {.used = true, .update = update, .learning_rate = rate, .weight_decay = weight_decay};
}

TEST(OptimizerTraitsTest, AdamCorrectsItsBiasByTheNumberOfUpdates) {
  const Adam adam{.beta1 = 0.5, .beta2 = 0.75};
  for (const int update : {1, 2, 10}) {
    const auto step = std::get<AdamStep>(step_of(adam, turn(update, 1)));
    EXPECT_DOUBLE_EQ(step.rate, 1 / (1 - std::pow(0.5, update)));
    EXPECT_DOUBLE_EQ(step.root_correction, 1 / std::sqrt(1 - std::pow(0.75, update)));
  }
}

TEST(OptimizerTraitsTest, DampeningBeginsWithTheSecondUpdate) {
  const Sgd sgd{.momentum = 0.9, .dampening = 0.25};
  EXPECT_EQ(std::get<MomentumStep>(step_of(sgd, turn(1, 1))).gain, 1);
  EXPECT_EQ(std::get<MomentumStep>(step_of(sgd, turn(2, 1))).gain, 0.75);
}

TEST(OptimizerTraitsTest, WeightDecayShrinksByItsPartOfTheRate) {
  EXPECT_DOUBLE_EQ(std::get<AdamStep>(step_of(AdamW{}, turn(1, 0.25, 0.5))).keep, 1 - 0.25 * 0.5);
  EXPECT_EQ(std::get<AdamStep>(step_of(AdamW{}, turn(1, 0.25))).keep, 1);
}

TEST(OptimizerTraitsTest, AParameterWithoutAGradientIsOnlyAveraged) {
  EXPECT_TRUE(std::holds_alternative<AverageStep>(step_of(Adam{}, {})));
}

TEST(OptimizerTraitsTest, SettingsAreTheOptionsAndThenTheRules) {
  const std::vector<NamedTensor> parameters = {{"head.weight", at::empty({2, 2})},
                                               {"head.bias", at::empty({2})}};
  const auto traits = traits_of(AdamW{.weight_decay = 0.1});
  UpdateOptions options{.l2 = 0.5, .decay_scope = DecayScope::weights};
  auto settings = settings_of(parameters, options, traits);
  EXPECT_EQ(settings[0].l2, 0.5);
  EXPECT_EQ(settings[0].weight_decay, 0.1);
  EXPECT_EQ(settings[1].l2, 0);
  EXPECT_EQ(settings[1].weight_decay, 0);

  options.rules = {{.names = "*", .rate_factor = 3},
                   {.names = "*.bias", .weight_decay = 0.7, .l2 = 0.9},
                   {.names = "head.b*", .rate_factor = 2, .frozen = true}};
  settings = settings_of(parameters, options, traits);
  EXPECT_EQ(settings[0].rate_factor, 3);
  EXPECT_EQ(settings[0].weight_decay, 0.1);
  EXPECT_FALSE(settings[0].frozen);
  EXPECT_EQ(settings[1].rate_factor, 2);
  EXPECT_EQ(settings[1].weight_decay, 0.7);
  EXPECT_EQ(settings[1].l2, 0.9);
  EXPECT_TRUE(settings[1].frozen);
  EXPECT_THROW(settings_of(parameters, options, traits_of(Adam{})), UsageError)
      << "no weight decay";
}

TEST(OptimizerTraitsTest, NumbersThatFloatsCannotHoldAreRefused) {
  const std::vector<NamedTensor> floats = {{"p", at::full({3}, 1.0, at::kFloat)}};
  const std::vector<NamedTensor> doubles = {{"p", at::full({3}, 1.0, at::kDouble)}};
  EXPECT_THROW(make_fused_updater(floats, Adam{.epsilon = 1e-60}, {}), UsageError);
  EXPECT_NO_THROW(make_fused_updater(doubles, Adam{.epsilon = 1e-60}, {}));
  EXPECT_NO_THROW(make_fused_updater(floats, Adam{.epsilon = 0}, {}));

  const auto updater = make_fused_updater(floats, Sgd{}, {});
  const GradientView view{.weights = {1},
                          .parameters = {{.form = ParameterGradient::Form::dense,
                                          .towers = {at::full({3}, 0.0, at::kFloat)},
                                          .touched = {}}}};
  EXPECT_THROW(updater->begin(view, {.learning_rate = 1e60}), UsageError);
  EXPECT_EQ(updater->state().optimizer.back().tensor.item<std::int64_t>(), 0) << "not counted";
}

}  // namespace optimizer_traits_test
}  // namespace pagoda
