#pragma once

// What the tests of the updaters share.

#include <pagoda/optim/updater.h>

#include <cmath>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "params/gradient_fixtures.h"

namespace pagoda::testing {

struct NamedOptimizer {
  std::string name;
  OptimizerOptions options;
};

inline std::ostream& operator<<(std::ostream& out, const NamedOptimizer& optimizer) {
  return out << optimizer.name;
}

/// Every way to compute that the built-in optimizers have, with options that differ from 0 and 1.
inline std::vector<NamedOptimizer> every_optimizer() {
  return {
      {"sgd", Sgd{.learning_rate = 0.05}},
      {"momentum", Sgd{.learning_rate = 0.05, .momentum = 0.9, .dampening = 0.1}},
      {"nesterov", Sgd{.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}},
      {"adam", Adam{.learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3}},
      {"adamw", AdamW{.learning_rate = 0.05, .weight_decay = 0.1}},
      {"adagrad", Adagrad{.learning_rate = 0.1, .rate_decay = 0.01, .initial_accumulator = 0.1}},
      {"rmsprop", RmsProp{.learning_rate = 0.05}},
      {"rmsprop_momentum", RmsProp{.learning_rate = 0.05, .momentum = 0.9}},
      {"rmsprop_centered", RmsProp{.learning_rate = 0.05, .centered = true}},
      {"rmsprop_centered_momentum",
       RmsProp{.learning_rate = 0.05, .momentum = 0.9, .centered = true}},
  };
}

inline std::string name_of(const ::testing::TestParamInfo<NamedOptimizer>& info) {
  return info.param.name;
}

/// One whole update, number `number` from 0, in `shares` shares that run at once.
inline void run_update(Updater& updater, const GradientView& gradients, std::int64_t number,
                       int shares = 1, double l2_scale = 1) {
  updater.begin(
      gradients,
      {.update = number, .learning_rate = updater.learning_rate(number), .l2_scale = l2_scale});
  std::vector<std::thread> threads;
  for (int share = 1; share < shares; ++share) {
    threads.emplace_back([&updater, share, shares] { updater.run_share(share, shares); });
  }
  updater.run_share(0, shares);
  for (auto& thread : threads) thread.join();
  updater.end();
}

using Parameters = std::vector<NamedTensor>;

/// Element i of a parameter before the first update.
inline double start(std::int64_t i) { return 0.5 * std::sin(static_cast<double>(i) + 1); }

/// Element i of a tower's gradient.
inline double slope(std::int64_t tower, std::int64_t update, std::int64_t i) {
  return std::sin(0.7 * static_cast<double>(i) + 1.3 * static_cast<double>(update) +
                  2.1 * static_cast<double>(tower));
}

inline Parameters copy_of(const Parameters& parameters) {
  Parameters copies;
  for (const auto& [name, tensor] : parameters) copies.push_back({name, tensor.clone()});
  return copies;
}

/// Dense gradients of as many towers as there are weights.
inline GradientView dense_view(const Parameters& parameters, const std::vector<double>& weights,
                               std::int64_t update) {
  GradientView view{.weights = weights, .parameters = {}};
  for (const auto& entry : parameters) {
    std::vector<at::Tensor> towers;
    for (std::size_t tower = 0; tower < weights.size(); ++tower) {
      towers.push_back(filled_like(entry.tensor, [&](std::int64_t i) {
        return slope(static_cast<std::int64_t>(tower), update, i);
      }));
    }
    view.parameters.push_back(dense_gradient(std::move(towers)));
  }
  return view;
}

/// Parameters, averages and optimizer state: all that updates change.
inline std::vector<at::Tensor> everything(const Parameters& parameters, const Updater& updater) {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : parameters) tensors.push_back(entry.tensor);
  const UpdaterState state = updater.state();
  tensors.insert(tensors.end(), state.averages.begin(), state.averages.end());
  for (const auto& entry : state.optimizer) tensors.push_back(entry.tensor);
  return tensors;
}

inline std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const auto& tensor : tensors) copies.push_back(tensor.clone());
  return copies;
}

inline void expect_same_bits(const std::vector<at::Tensor>& actual,
                             const std::vector<at::Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(same_bits(actual[i], expected[i])) << "tensor " << i;
  }
}

inline void expect_near(const std::vector<at::Tensor>& actual,
                        const std::vector<at::Tensor>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(all_near(actual[i], expected[i], tolerance)) << "tensor " << i;
  }
}

inline const UpdateOptions kL2AndAverage{.l2 = 0.01,
                                         .moving_average = MovingAverage{.decay = 0.75}};

}  // namespace pagoda::testing
