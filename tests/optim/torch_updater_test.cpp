#include "optim/torch_updater.h"

#include <pagoda/base/error.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include "optim/fused_updater.h"
#include "optim/update_fixtures.h"
#include "params/gradient_fixtures.h"

namespace pagoda {
namespace torch_updater_test {

using namespace pagoda::testing;

/// A weight of 7 rows and a bias, in double precision.
struct Model {
  Model() {
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{{7, 5}, {11}}) {
      tensors.push_back(filled(shape, at::kDouble, start).requires_grad_());
    }
    parameters = {{"weight", tensors[0]}, {"bias", tensors[1]}};
  }

  std::vector<at::Tensor> tensors;
  std::vector<NamedTensor> parameters;
};

const std::vector<double> kTowerWeights = {0.5, 0.3, 0.2};

GradientView gradients_of(const Model& model, std::int64_t update) {
  return dense_view(model.parameters, kTowerWeights, update);
}

/// Rows 1 and 4, then 4 and 6 of the weight; the bias is not used.
std::vector<TowerRows> towers_rows() {
  const auto values = [](double first) {
    return filled({2, 5}, at::kDouble, [=](auto i) { return first + static_cast<double>(i); });
  };
  return {{.rows = {1, 4}, .values = values(1)},
          {.rows = {}, .values = at::Tensor()},
          {.rows = {4, 6}, .values = values(100)}};
}

GradientView row_view() {
  return {.weights = kTowerWeights,
          .parameters = {row_gradient(towers_rows()), ParameterGradient()}};
}

/// The same as one dense gradient.
at::Tensor combined_rows(const Model& model) {
  const auto rows = towers_rows();
  return 0.5 * as_dense(rows[0], model.tensors[0]) + 0.2 * as_dense(rows[2], model.tensors[0]);
}

/// Keeps the gradients and rates that reach it and changes nothing.
class RecordingOptimizer final : public torch::optim::Optimizer {
 public:
  explicit RecordingOptimizer(const std::vector<at::Tensor>& parameters)
      : Optimizer({torch::optim::OptimizerParamGroup({parameters[0]}),
                   torch::optim::OptimizerParamGroup({parameters[1]})},
                  std::make_unique<torch::optim::SGDOptions>(0.25)) {}

  at::Tensor step(LossClosure /*closure*/ = nullptr) override {
    gradients.clear();
    rates.clear();
    for (const auto& group : param_groups()) {
      const at::Tensor& gradient = group.params()[0].grad();
      gradients.push_back(gradient.defined() ? gradient.clone() : at::Tensor());
      rates.push_back(group.options().get_lr());
    }
    return {};
  }

  std::vector<at::Tensor> gradients;
  std::vector<double> rates;
};

struct OptimizerPair {
  const char* name;
  std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<at::Tensor>)> theirs;
  OptimizerOptions ours;
};

const OptimizerPair kPairs[] = {
    {"sgd",
     [](std::vector<at::Tensor> parameters) {
       return std::make_unique<torch::optim::SGD>(std::move(parameters),
                                                  torch::optim::SGDOptions(0.05).momentum(0.9));
     },
     Sgd{.learning_rate = 0.05, .momentum = 0.9}},
    {"adam",
     [](std::vector<at::Tensor> parameters) {
       return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                                   torch::optim::AdamOptions(0.05));
     },
     Adam{.learning_rate = 0.05}},
};

TEST(TorchUpdaterTest, ComputesWhatTheBuiltInOptimizerComputes) {
  const UpdateOptions options{.l2 = 0.01, .moving_average = MovingAverage{.decay = 0.75}};
  for (const auto& [name, make_theirs, make_ours] : kPairs) {
    for (const int shares : {1, 2, 3, 8}) {
      const Model ours;
      const Model theirs;
      const auto optimizer = make_theirs(theirs.tensors);
      const auto our_updater = make_fused_updater(ours.parameters, make_ours, options);
      const auto their_updater = make_torch_updater(theirs.parameters, *optimizer, options);
      for (std::int64_t update = 0; update < 5; ++update) {
        run_update(*our_updater, gradients_of(ours, update), update);
        run_update(*their_updater, gradients_of(theirs, update), update, shares);
      }
      for (std::size_t i = 0; i < ours.tensors.size(); ++i) {
        EXPECT_TRUE(all_near(theirs.tensors[i], ours.tensors[i], 1e-12)) << name << ", " << shares;
        EXPECT_TRUE(all_near(their_updater->averages()[i], our_updater->averages()[i], 1e-12))
            << name;
      }
    }
  }
}

TEST(TorchUpdaterTest, RowsReachTheOptimizerAsASparseGradient) {
  const Model model;
  RecordingOptimizer optimizer(model.tensors);
  const auto updater = make_torch_updater(model.parameters, optimizer, {});
  run_update(*updater, gradients_of(model, 0), 0);  // the next gradient must not reuse its memory
  run_update(*updater, row_view(), 1);
  const at::Tensor& gradient = optimizer.gradients[0];
  ASSERT_TRUE(gradient.is_sparse());
  EXPECT_TRUE(gradient.is_coalesced());
  EXPECT_TRUE(gradient.indices().equal(torch::tensor({{1, 4, 6}}, torch::kLong)));
  EXPECT_TRUE(all_near(gradient.to_dense(), combined_rows(model), 1e-12));

  run_update(*updater, gradients_of(model, 2), 2);
  EXPECT_FALSE(optimizer.gradients[0].is_sparse()) << "and a dense gradient as a dense one";
}

TEST(TorchUpdaterTest, SparseRowsUpdateLikeTheBuiltInOptimizer) {
  const Model ours;
  const Model theirs;
  torch::optim::SGD optimizer(theirs.tensors, 0.05);
  run_update(*make_fused_updater(ours.parameters, Sgd{.learning_rate = 0.05}, {}), row_view(), 0);
  run_update(*make_torch_updater(theirs.parameters, optimizer, {}), row_view(), 0);
  EXPECT_TRUE(all_near(theirs.tensors[0], ours.tensors[0], 1e-12));
  EXPECT_FALSE(theirs.tensors[0].equal(Model().tensors[0]));
}

TEST(TorchUpdaterTest, L2MakesRowsDenseWhereItApplies) {
  const Model model;
  RecordingOptimizer optimizer(model.tensors);
  const auto updater = make_torch_updater(model.parameters, optimizer,
                                          {.l2 = 0.5, .decay_scope = DecayScope::weights});
  GradientView view = row_view();
  view.parameters[1] = gradients_of(model, 0).parameters[1];
  run_update(*updater, view, 0, 2, /*l2_scale=*/0.5);
  ASSERT_FALSE(optimizer.gradients[0].is_sparse());
  EXPECT_TRUE(
      all_near(optimizer.gradients[0], combined_rows(model) + 0.25 * model.tensors[0], 1e-12));
  const auto& towers = view.parameters[1].towers;
  EXPECT_TRUE(
      all_near(optimizer.gradients[1], 0.5 * towers[0] + 0.3 * towers[1] + 0.2 * towers[2], 1e-12));
}

TEST(TorchUpdaterTest, UnusedParameterHasNoGradientAndNoneIsLeftBehind) {
  const Model model;
  RecordingOptimizer optimizer(model.tensors);
  const auto updater = make_torch_updater(model.parameters, optimizer, {});
  run_update(*updater, gradients_of(model, 0), 0);
  EXPECT_TRUE(optimizer.gradients[1].defined());
  run_update(*updater, row_view(), 1);
  EXPECT_FALSE(optimizer.gradients[1].defined());
  for (const auto& tensor : model.tensors) EXPECT_FALSE(tensor.grad().defined());
}

TEST(TorchUpdaterTest, ScheduleIsWrittenIntoEveryGroup) {
  const Model model;
  RecordingOptimizer optimizer(model.tensors);
  const auto updater =
      make_torch_updater(model.parameters, optimizer, {},
                         LearningRate(StepDecay{.base = 8, .factor = 0.5, .every = 1}));
  for (std::int64_t update = 0; update < 3; ++update) {
    const double expected = 8 / std::pow(2, update);
    EXPECT_EQ(updater->learning_rate(update), expected);
    run_update(*updater, gradients_of(model, update), update);
    EXPECT_EQ(optimizer.rates, (std::vector<double>{expected, expected}));
  }
}

TEST(TorchUpdaterTest, WithoutAScheduleTheOptimizerKeepsItsRates) {
  const Model model;
  RecordingOptimizer optimizer(model.tensors);
  optimizer.param_groups()[1].options().set_lr(0.125);
  const auto updater = make_torch_updater(model.parameters, optimizer, {});
  EXPECT_EQ(updater->learning_rate(0), 0.25);
  run_update(*updater, gradients_of(model, 0), 0);
  EXPECT_EQ(optimizer.rates, (std::vector<double>{0.25, 0.125}));
}

TEST(TorchUpdaterTest, ALoadedStateGoesOnBitForBit) {
  for (const auto& [name, make_theirs, ours] : kPairs) {
    SCOPED_TRACE(name);
    const Model whole;
    const Model resumed;
    const auto of_whole = make_theirs(whole.tensors);
    const auto of_resumed = make_theirs(resumed.tensors);
    const auto updater = make_torch_updater(whole.parameters, *of_whole, kL2AndAverage);
    const auto other = make_torch_updater(resumed.parameters, *of_resumed, kL2AndAverage);
    for (std::int64_t update = 0; update < 3; ++update)
      run_update(*updater, gradients_of(whole, update), update);
    run_update(*other, gradients_of(resumed, 7), 7);  // what was there before does not matter

    const UpdaterState state = updater->state();
    EXPECT_TRUE(state.optimizer.empty());
    other->load(state);
    for (std::size_t i = 0; i < whole.tensors.size(); ++i)
      resumed.tensors[i].detach().copy_(whole.tensors[i]);
    for (std::int64_t update = 3; update < 6; ++update) {
      run_update(*updater, gradients_of(whole, update), update);
      run_update(*other, gradients_of(resumed, update), update);
    }
    expect_same_bits(resumed.tensors, whole.tensors);
    expect_same_bits(other->averages(), updater->averages());
  }
}

TEST(TorchUpdaterTest, AStateThatDoesNotFitChangesNothing) {
  const Model model;
  torch::optim::SGD optimizer(model.tensors, torch::optim::SGDOptions(0.05).momentum(0.9));
  const auto updater = make_torch_updater(model.parameters, optimizer, kL2AndAverage);
  run_update(*updater, gradients_of(model, 0), 0);
  UpdaterState state = updater->state();
  const auto averages = updater->averages();
  for (const at::Tensor& average : state.averages) average.zero_();
  state.torch_optimizer.reset();
  EXPECT_THROW(updater->load(state), DataError);
  expect_same_bits(updater->averages(), averages);
}

TEST(TorchUpdaterTest, AnOptimizerThatCannotBeSavedTrainsButGivesNoState) {
  const Model model;
  RecordingOptimizer optimizer(model.tensors);
  const auto updater = make_torch_updater(model.parameters, optimizer, kL2AndAverage);
  run_update(*updater, gradients_of(model, 0), 0);
  EXPECT_EQ(updater->averages().size(), 2u);
  EXPECT_THROW(updater->state(), UsageError);
}

TEST(TorchUpdaterTest, RefusesWhatItCannotUpdate) {
  const Model model;
  torch::optim::LBFGS lbfgs(model.tensors, torch::optim::LBFGSOptions());
  EXPECT_THROW(make_torch_updater(model.parameters, lbfgs, {}), UsageError);

  RecordingOptimizer optimizer(model.tensors);
  EXPECT_THROW(make_torch_updater(model.parameters, optimizer, {.l2 = -1}), UsageError);
  const std::vector<NamedTensor> half = {{"layer.weight", torch::zeros({3}, torch::kBFloat16)}};
  EXPECT_THROW(make_torch_updater(half, optimizer, {}), UsageError);
}

}  // namespace torch_updater_test
}  // namespace pagoda
