#include <array>
#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "optim/fused_updater.h"
#include "optim/update_fixtures.h"
#include "params/gradient_fixtures.h"

// The numbers that PyTorch computes; pytorch_reference.py makes them and describes the problem.

namespace pagoda {
namespace pytorch_reference_test {

using namespace pagoda::testing;

struct ReferenceCase {
  const char* name;
  std::array<double, 7> after_10_steps;
};

const ReferenceCase kPytorchReference[] = {
#include "optim/pytorch_reference.inc"
};

struct Equivalent {
  OptimizerOptions optimizer;
  double l2 = 0;  // what PyTorch calls weight_decay, except in AdamW
};

std::map<std::string, Equivalent> equivalents() {
  const LearningRate decaying = ExponentialDecay{.base = 0.05, .rate = 0.9, .steps = 1};
  return {
      {"sgd", {Sgd{.learning_rate = 0.05}}},
      {"sgd_weight_decay", {Sgd{.learning_rate = 0.05}, 0.01}},
      {"sgd_momentum", {Sgd{.learning_rate = 0.05, .momentum = 0.9}}},
      {"sgd_momentum_dampening", {Sgd{.learning_rate = 0.05, .momentum = 0.9, .dampening = 0.1}}},
      {"sgd_momentum_weight_decay", {Sgd{.learning_rate = 0.05, .momentum = 0.9}, 0.01}},
      {"sgd_nesterov", {Sgd{.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}}},
      {"sgd_nesterov_weight_decay",
       {Sgd{.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}, 0.01}},
      {"sgd_momentum_decaying_lr", {Sgd{.learning_rate = decaying, .momentum = 0.9}}},
      {"adam", {Adam{.learning_rate = 0.01}}},
      {"adam_betas_eps",
       {Adam{.learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3}}},
      {"adam_weight_decay", {Adam{.learning_rate = 0.05}, 0.01}},
      {"adam_decaying_lr", {Adam{.learning_rate = decaying}}},
      {"adamw", {AdamW{.learning_rate = 0.05}}},
      {"adamw_decaying_lr", {AdamW{.learning_rate = decaying}}},
      {"adagrad", {Adagrad{.learning_rate = 0.1}}},
      {"adagrad_initial_accumulator", {Adagrad{.learning_rate = 0.1, .initial_accumulator = 0.1}}},
      {"adagrad_lr_decay", {Adagrad{.learning_rate = 0.1, .rate_decay = 0.01}}},
      {"adagrad_lr_decay_initial_accumulator",
       {Adagrad{.learning_rate = 0.1, .rate_decay = 0.01, .initial_accumulator = 0.1}}},
      {"adagrad_weight_decay", {Adagrad{.learning_rate = 0.1}, 0.01}},
      {"rmsprop", {RmsProp{.learning_rate = 0.05}}},
      {"rmsprop_weight_decay", {RmsProp{.learning_rate = 0.05}, 0.01}},
      {"rmsprop_momentum", {RmsProp{.learning_rate = 0.05, .momentum = 0.9}}},
      {"rmsprop_centered", {RmsProp{.learning_rate = 0.05, .centered = true}}},
      {"rmsprop_centered_momentum",
       {RmsProp{.learning_rate = 0.05, .momentum = 0.9, .centered = true}}},
  };
}

class PytorchReferenceTest : public ::testing::TestWithParam<ReferenceCase> {};

TEST_P(PytorchReferenceTest, TenUpdatesGivePytorchsNumbers) {
  const auto& [name, expected] = GetParam();
  const Equivalent ours = equivalents().at(name);
  const Parameters parameters = {{"p", filled({7}, at::kDouble, start)}};
  const auto updater = make_fused_updater(parameters, ours.optimizer, {.l2 = ours.l2});
  for (std::int64_t update = 0; update < 10; ++update) {
    GradientView view = dense_view(parameters, {1}, update);
    view.parameters[0].towers[0] += 0.3 * parameters[0].tensor;
    run_update(*updater, view, update);
  }
  const double* actual = parameters[0].tensor.const_data_ptr<double>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-12 * std::abs(expected[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCase, PytorchReferenceTest, ::testing::ValuesIn(kPytorchReference),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace pytorch_reference_test
}  // namespace pagoda
