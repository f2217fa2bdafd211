#include "optim/fused_updater.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "optim/update_fixtures.h"
#include "params/gradient_fixtures.h"

namespace pagoda {
namespace fused_updater_test {

using namespace pagoda::testing;

/// Sizes that meet every boundary: nothing, one element, a prime, one over a span and over a block,
/// rows, and a convolution in channels-last order.
Parameters awkward_parameters(at::ScalarType type) {
  Parameters parameters;
  const std::vector<std::vector<std::int64_t>> shapes = {
      {0}, {}, {1}, {101}, {kSpanElements + 1}, {16 * 1024 + 1}, {7, 131}, {3, 4, 5, 6}};
  for (const auto& shape : shapes) {
    parameters.push_back({"p" + std::to_string(parameters.size()), filled(shape, type, start)});
  }
  at::Tensor& convolution = parameters.back().tensor;
  convolution = convolution.contiguous(at::MemoryFormat::ChannelsLast);
  return parameters;
}

/// The same gradients as one tower's.
GradientView combined(const GradientView& view, const Parameters& parameters) {
  GradientView one{.weights = {1}, .parameters = {}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor sum = at::zeros_like(parameters[i].tensor);
    for (std::size_t tower = 0; tower < view.weights.size(); ++tower) {
      const at::Tensor& gradient = view.parameters[i].towers[tower];
      if (gradient.defined()) sum += view.weights[tower] * gradient;
    }
    one.parameters.push_back(dense_gradient({sum}));
  }
  return one;
}

class FusedUpdaterTest : public ::testing::TestWithParam<NamedOptimizer> {
 protected:
  std::unique_ptr<Updater> updater_of(const Parameters& parameters,
                                      const UpdateOptions& options = {}) const {
    return make_fused_updater(parameters, GetParam().options, options);
  }
};

TEST_P(FusedUpdaterTest, AnyNumberOfSharesGivesTheSameBits) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const Parameters initial = awkward_parameters(type);
    const auto after = [&](int shares) {
      const Parameters parameters = copy_of(initial);
      const auto updater = updater_of(parameters, kL2AndAverage);
      for (std::int64_t update = 0; update < 2; ++update) {
        run_update(*updater, dense_view(parameters, {0.25, 0.75}, update), update, shares);
      }
      return everything(parameters, *updater);
    };
    const auto expected = after(1);
    for (const int shares : {2, 3, 8}) expect_same_bits(after(shares), expected);
  }
}

TEST_P(FusedUpdaterTest, WeightedTowersEqualTheirCombinedGradient) {
  const std::vector<std::vector<double>> weight_sets = {
      {2.5}, {0.25, 0.75}, {0.5, 0.3, 0.2}, {0.1, 0.2, 0.1, 0.05, 0.05, 0.2, 0.2, 0.1}};
  for (const auto& weights : weight_sets) {
    const Parameters towers = {{"w", filled({5, 3}, at::kDouble, start)},
                               {"b", filled({11}, at::kDouble, start)}};
    const Parameters one = copy_of(towers);
    const auto of_towers = updater_of(towers, kL2AndAverage);
    const auto of_one = updater_of(one, kL2AndAverage);
    for (std::int64_t update = 0; update < 4; ++update) {
      GradientView view = dense_view(towers, weights, update);
      if (weights.size() > 1) view.parameters[1].towers[1].reset();  // tower 1 did not use the bias
      run_update(*of_towers, view, update);
      run_update(*of_one, combined(view, one), update);
    }
    expect_near(everything(towers, *of_towers), everything(one, *of_one), 1e-12);
  }
}

TEST_P(FusedUpdaterTest, ElementIsUpdatedAlikeWhereverItLies) {
  const Parameters whole = {{"p", filled({16 * 1024 + 1}, at::kFloat, start)}};
  Parameters pieces;
  for (const auto& piece : whole[0].tensor.split(331)) pieces.push_back({"p", piece.clone()});
  const auto of_whole = updater_of(whole, kL2AndAverage);
  const auto of_pieces = updater_of(pieces, kL2AndAverage);
  for (std::int64_t update = 0; update < 2; ++update) {
    const GradientView view = dense_view(whole, {0.5, 0.5}, update);
    GradientView cut{.weights = view.weights, .parameters = {}};
    const auto first = view.parameters[0].towers[0].split(331);
    const auto second = view.parameters[0].towers[1].split(331);
    for (std::size_t i = 0; i < first.size(); ++i)
      cut.parameters.push_back(dense_gradient({first[i], second[i]}));
    run_update(*of_whole, view, update);
    run_update(*of_pieces, cut, update);
  }
  std::vector<at::Tensor> joined;
  for (const auto& piece : pieces) joined.push_back(piece.tensor);
  EXPECT_TRUE(same_bits(whole[0].tensor, at::cat(joined)));
  EXPECT_TRUE(same_bits(of_whole->averages()[0], at::cat(of_pieces->averages())));
}

TEST_P(FusedUpdaterTest, MemoryLayoutChangesNothing) {
  const at::Tensor values = filled({3, 4, 5, 6}, at::kFloat, start);
  const auto after = [&](at::MemoryFormat format) {
    const Parameters parameters = {{"p", values.clone(format)}};
    const auto updater = updater_of(parameters, kL2AndAverage);
    for (std::int64_t update = 0; update < 3; ++update) {
      const at::Tensor gradient = filled_like(values, [=](auto i) { return slope(0, update, i); });
      run_update(*updater,
                 {.weights = {1}, .parameters = {dense_gradient({gradient.contiguous(format)})}},
                 update);
    }
    EXPECT_TRUE(updater->averages()[0].is_contiguous(format));
    return everything(parameters, *updater);
  };
  expect_same_bits(after(at::MemoryFormat::ChannelsLast), after(at::MemoryFormat::Contiguous));
}

TEST_P(FusedUpdaterTest, FloatFollowsDouble) {
  const Parameters doubles = {{"p", filled({101}, at::kDouble, start)}};
  const Parameters floats = {{"p", filled({101}, at::kFloat, start)}};
  const auto of_doubles = updater_of(doubles, kL2AndAverage);
  const auto of_floats = updater_of(floats, kL2AndAverage);
  for (std::int64_t update = 0; update < 5; ++update) {
    run_update(*of_doubles, dense_view(doubles, {0.5, 0.5}, update), update);
    run_update(*of_floats, dense_view(floats, {0.5, 0.5}, update), update);
  }
  expect_near(everything(floats, *of_floats), everything(doubles, *of_doubles), 1e-4);
}

TEST_P(FusedUpdaterTest, CopiedStateGoesOnInTheSameBits) {
  const auto run = [&](Updater& updater, const Parameters& parameters, std::int64_t first,
                       std::int64_t last) {
    for (std::int64_t update = first; update < last; ++update) {
      run_update(updater, dense_view(parameters, {1}, update), update);
    }
  };
  const Parameters straight = {{"w", filled({5, 3}, at::kFloat, start)},
                               {"b", filled({7}, at::kFloat, start)}};
  const Parameters stopped = copy_of(straight);
  const auto of_straight = updater_of(straight, kL2AndAverage);
  run(*of_straight, straight, 0, 6);

  const auto before_stop = updater_of(stopped, kL2AndAverage);
  run(*before_stop, stopped, 0, 3);
  const Parameters resumed = copy_of(stopped);
  const auto after_stop = updater_of(resumed, kL2AndAverage);
  after_stop->load(before_stop->state());
  run(*after_stop, resumed, 3, 6);
  expect_same_bits(everything(resumed, *after_stop), everything(straight, *of_straight));
}

TEST_P(FusedUpdaterTest, UnusedParameterRestsWhileItsAverageFollows) {
  const Parameters parameters = {{"used", filled({5, 3}, at::kDouble, start)},
                                 {"unused", filled({7}, at::kDouble, start)}};
  const auto updater = updater_of(parameters, kL2AndAverage);
  run_update(*updater, dense_view(parameters, {1}, 0), 0);
  const auto state_of_unused = [&] {
    std::vector<at::Tensor> state = {parameters[1].tensor.clone()};
    for (const auto& [name, tensor] : updater->state().optimizer) {
      if (name.ends_with("/unused")) state.push_back(tensor.clone());
      if (name == "updates") state.push_back(tensor[1].clone());
    }
    return state;
  };
  const auto before = state_of_unused();
  const at::Tensor used_before = parameters[0].tensor.clone();
  const at::Tensor average = updater->averages()[1].clone();

  GradientView view = dense_view(parameters, {1}, 1);
  view.parameters[1] = ParameterGradient();
  run_update(*updater, view, 1);
  expect_same_bits(state_of_unused(), before);
  EXPECT_FALSE(parameters[0].tensor.equal(used_before));
  const double decay = 3.0 / 12;  // the second update of a young average
  EXPECT_TRUE(all_near(updater->averages()[1], decay * average + (1 - decay) * parameters[1].tensor,
                       1e-12));
}

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, FusedUpdaterTest, ::testing::ValuesIn(every_optimizer()),
                         name_of);

TEST(FusedUpdaterTest, OneStepOfSgdInEverySizeAndType) {
  for (const auto type : {at::kDouble, at::kFloat}) {
    const Parameters before = awkward_parameters(type);
    const Parameters parameters = copy_of(before);
    const GradientView view = dense_view(before, {0.5, 0.3, 0.2}, 0);
    const auto updater = make_fused_updater(parameters, Sgd{.learning_rate = 0.1}, {.l2 = 0.5});
    run_update(*updater, view, 0, 1, /*l2_scale=*/0.5);
    const GradientView sum = combined(view, before);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor gradient = sum.parameters[i].towers[0] + 0.5 * 0.5 * before[i].tensor;
      EXPECT_TRUE(all_near(parameters[i].tensor, before[i].tensor - 0.1 * gradient,
                           type == at::kDouble ? 1e-12 : 1e-6))
          << before[i].tensor.sizes();
    }
  }
}

TEST(FusedUpdaterTest, AverageFollowsItsFormula) {
  for (const bool rule : {true, false}) {
    const Parameters parameters = {{"p", filled({101}, at::kDouble, start)}};
    const auto updater = make_fused_updater(
        parameters, Sgd{.learning_rate = 0.5},
        {.moving_average = MovingAverage{.decay = 0.5, .num_updates_rule = rule}});
    at::Tensor expected = parameters[0].tensor.clone();
    EXPECT_TRUE(updater->averages()[0].equal(expected)) << "it starts at the parameter";
    for (std::int64_t update = 0; update < 12; ++update) {  // the rule ends at the eighth
      run_update(*updater, dense_view(parameters, {1}, update), update);
      const double n = static_cast<double>(update) + 1;
      const double decay = rule ? std::min(0.5, (1 + n) / (10 + n)) : 0.5;
      expected = decay * expected + (1 - decay) * parameters[0].tensor;
      EXPECT_TRUE(all_near(updater->averages()[0], expected, 1e-12)) << "update " << update;
    }
  }
  EXPECT_TRUE(make_fused_updater({{"p", at::empty({3})}}, Sgd{}, {})->averages().empty());
}

// With a zero gradient only the decay is left: p <- p * (1 - rate * decay).
TEST(FusedUpdaterTest, DecayReachesWhatItsScopeNames) {
  struct Case {
    const char* name;
    OptimizerOptions optimizer;
    double l2;
  };
  const Case cases[] = {{"l2", Sgd{.learning_rate = 0.1}, 0.5},
                        {"weight decay", AdamW{.learning_rate = 0.1, .weight_decay = 0.5}, 0}};
  for (const auto& [name, optimizer, l2] : cases) {
    for (const auto scope : {DecayScope::all, DecayScope::weights}) {
      const Parameters before = {{"weight", filled({2, 3}, at::kDouble, start)},
                                 {"bias", filled({3}, at::kDouble, start)}};
      const Parameters parameters = copy_of(before);
      GradientView zero{.weights = {1}, .parameters = {}};
      for (const auto& entry : before)
        zero.parameters.push_back(dense_gradient({at::zeros_like(entry.tensor)}));
      run_update(*make_fused_updater(parameters, optimizer, {.l2 = l2, .decay_scope = scope}), zero,
                 0);
      EXPECT_TRUE(all_near(parameters[0].tensor, before[0].tensor * 0.95, 1e-12)) << name;
      const double left = scope == DecayScope::all ? 0.95 : 1;
      EXPECT_TRUE(all_near(parameters[1].tensor, before[1].tensor * left, 1e-12)) << name;
    }
  }
}

TEST(FusedUpdaterTest, StateIsNamedByParameter) {
  const auto updater = make_fused_updater(
      {{"conv1.weight", at::empty({2, 3})}, {"conv1.bias", at::empty({2})}}, Adam{}, {});
  std::vector<std::string> names;
  for (const auto& entry : updater->state().optimizer) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"mean/conv1.weight", "square/conv1.weight",
                                             "mean/conv1.bias", "square/conv1.bias", "updates"}));
}

TEST(FusedUpdaterTest, RefusesWhatItCannotUpdate) {
  const Parameters fine = {{"fine", at::empty({3})}};
  EXPECT_THROW(make_fused_updater(fine, Adam{.beta1 = 1}, {}), UsageError);
  EXPECT_THROW(make_fused_updater(fine, Adam{}, {.l2 = -1}), UsageError);
  try {
    make_fused_updater({fine[0], {"layer.weight", at::empty({3}, at::kBFloat16)}}, Adam{}, {});
    FAIL() << "bfloat16 was taken";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'layer.weight' is BFloat16"), std::string::npos)
        << error.what();
  }
}

}  // namespace fused_updater_test
}  // namespace pagoda
