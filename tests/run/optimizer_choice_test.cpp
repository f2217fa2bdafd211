#include <pagoda/cli/run_flags.h>

#include <cmath>

#include <gtest/gtest.h>

namespace pagoda {
namespace optimizer_choice_test {

/// The flags of a command line.
OptimizerChoice parsed(const std::string& arguments) {
  OptimizerChoice flags;
  CLI::App command("a command", "command");
  add_optimizer_flags(command, flags);
  command.parse(arguments);
  return flags;
}

/// The learning rate at a step of a run of 100 steps.
double rate_at(const std::string& arguments, std::int64_t step) {
  const OptimizerOptions optimizer = chosen_optimizer(parsed(arguments), 100);
  return std::visit([&](const auto& one) { return one.learning_rate.at(step); }, optimizer);
}

TEST(OptimizerChoiceTest, EveryNameIsAnOptimizer) {
  EXPECT_TRUE(std::holds_alternative<Adam>(chosen_optimizer(parsed(""), 1)));
  EXPECT_TRUE(std::holds_alternative<AdamW>(chosen_optimizer(parsed("--optimizer adamw"), 1)));
  EXPECT_TRUE(std::holds_alternative<Adagrad>(chosen_optimizer(parsed("--optimizer adagrad"), 1)));
  EXPECT_TRUE(std::holds_alternative<RmsProp>(chosen_optimizer(parsed("--optimizer rmsprop"), 1)));
  for (const auto& [name, momentum, nesterov] : std::vector<std::tuple<std::string, double, bool>>{
           {"sgd", 0, false}, {"momentum", 0.7, false}, {"nesterov", 0.7, true}}) {
    const std::string given = momentum != 0 ? "--momentum 0.7 " : "";
    const auto optimizer = chosen_optimizer(parsed(given + "--optimizer " + name), 1);
    const Sgd& sgd = std::get<Sgd>(optimizer);
    EXPECT_EQ(sgd.momentum, momentum) << name;
    EXPECT_EQ(sgd.nesterov, nesterov) << name;
  }
  EXPECT_THROW(parsed("--optimizer adom"), CLI::Error);
}

TEST(OptimizerChoiceTest, AdamsDecaysAndEpsilonAreItsOwnUnlessGiven) {
  const auto usual = std::get<Adam>(chosen_optimizer(parsed(""), 1));
  EXPECT_EQ(std::tie(usual.beta1, usual.beta2, usual.epsilon),
            std::make_tuple(Adam{}.beta1, Adam{}.beta2, Adam{}.epsilon));
  const std::string given = "--beta1 0.8 --beta2 0.98 --epsilon 1e-9";
  const auto expected = std::make_tuple(0.8, 0.98, 1e-9);
  const auto adam = std::get<Adam>(chosen_optimizer(parsed(given), 1));
  EXPECT_EQ(std::tie(adam.beta1, adam.beta2, adam.epsilon), expected);
  const auto adamw = std::get<AdamW>(chosen_optimizer(parsed("--optimizer adamw " + given), 1));
  EXPECT_EQ(std::tie(adamw.beta1, adamw.beta2, adamw.epsilon), expected);
}

TEST(OptimizerChoiceTest, SchedulesFollowTheirFormulas) {
  for (const std::int64_t step : {0, 1, 10, 50, 99}) {
    const double s = static_cast<double>(step);
    EXPECT_DOUBLE_EQ(rate_at("--lr 0.5 --schedule constant", step), 0.5);
    EXPECT_DOUBLE_EQ(
        rate_at("--lr 0.5 --schedule exponential --lr-decay 0.9 --lr-decay-steps 10", step),
        0.5 * std::pow(0.9, s / 10));
    EXPECT_DOUBLE_EQ(rate_at("--lr 0.5 --schedule exponential", step),
                     0.5 * std::pow(0.99, s / 64));
    EXPECT_DOUBLE_EQ(rate_at("", step), 1e-3) << "the default";
    EXPECT_DOUBLE_EQ(rate_at("--lr 0.5 --schedule step --lr-decay 0.5 --lr-decay-steps 10", step),
                     0.5 * std::pow(0.5, std::floor(s / 10)));
    EXPECT_NEAR(rate_at("--lr 0.5 --schedule cosine", step),
                0.5 * (1 + std::cos(M_PI * s / 100)) / 2, 1e-15)
        << "a cosine is as long as the run";
    EXPECT_NEAR(rate_at("--lr 0.5 --schedule linear", step), 0.5 * (1 - s / 100), 1e-15);
  }
}

TEST(OptimizerChoiceTest, WhatAScheduleHasNoUseForIsRefused) {
  for (const char* arguments :
       {"--lr-decay 0.9", "--lr-decay-steps 10", "--lr-staircase",
        "--schedule inverse-sqrt --lr-decay-steps 10", "--schedule cosine --lr-decay 0.9",
        "--schedule step --lr-staircase"}) {
    EXPECT_THROW(rate_at(arguments, 0), UsageError) << arguments;
  }
}

TEST(OptimizerChoiceTest, WhatAnOptimizerHasNoUseForIsRefused) {
  for (const char* arguments :
       {"--momentum 0.7", "--optimizer sgd --momentum 0.7", "--optimizer sgd --beta1 0.8",
        "--optimizer adagrad --beta2 0.98", "--optimizer rmsprop --epsilon 1e-9",
        "--weight-decay 0.1", "--optimizer nesterov --weight-decay 0.1"}) {
    EXPECT_THROW(chosen_optimizer(parsed(arguments), 1), UsageError) << arguments;
  }
}

TEST(OptimizerChoiceTest, CosineAndLineHaveWhatTheWarmUpLeavesOfTheRun) {
  EXPECT_NEAR(rate_at("--lr 0.5 --schedule linear --lr-warmup 20", 60), 0.25, 1e-15);
  EXPECT_NEAR(rate_at("--lr 0.5 --schedule cosine --lr-warmup 20", 60), 0.25, 1e-15);
  EXPECT_NEAR(rate_at("--lr 0.5 --schedule cosine --lr-decay-steps 10", 10), 0, 1e-15);
}

TEST(OptimizerChoiceTest, ParametersAreFrozenAndGetFactorsByName) {
  EXPECT_TRUE(chosen_rules(parsed("")).empty());
  const auto rules = chosen_rules(
      parsed("--freeze backbone.* --lr-factor head.*=10 --freeze *.bias --lr-factor head.last=2"));
  ASSERT_EQ(rules.size(), 4u);
  EXPECT_EQ(rules[0].names, "head.*");
  EXPECT_EQ(rules[0].rate_factor, 10);
  EXPECT_EQ(rules[1].rate_factor, 2);
  EXPECT_EQ(rules[2].names, "backbone.*");
  EXPECT_EQ(rules[2].frozen, true);
  EXPECT_EQ(rules[2].rate_factor, std::nullopt);
  EXPECT_EQ(rules[3].names, "*.bias");
  EXPECT_THROW(parsed("--lr-factor head.*"), CLI::ParseError);
  EXPECT_THROW(parsed("--freeze a b"), CLI::ParseError);  // one for each time it is given
}

TEST(OptimizerChoiceTest, NothingIsOnUnlessItIsAskedFor) {
  const OptimizerChoice choice;
  EXPECT_EQ(chosen_average(choice), std::nullopt);
  EXPECT_EQ(choice.l2, 0);
  EXPECT_TRUE(chosen_rules(choice).empty());
}

TEST(OptimizerChoiceTest, ZeroTurnsOff) {
  EXPECT_EQ(chosen_average(parsed("--ema 0")), std::nullopt);
  EXPECT_EQ(chosen_average(parsed("--ema 0.5"))->decay, 0.5);
}

}  // namespace optimizer_choice_test
}  // namespace pagoda
