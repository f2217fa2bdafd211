#pragma once

// Trains the same model on towers and plainly on one device, and compares.

#include <pagoda/train/sync_step.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/machines.h"
#include "support/plain_training.h"

namespace pagoda::testing {

struct GoldenRun {
  Machine towers = 2;
  OptimizerOptions optimizer = Adam{.learning_rate = 0.02};
  StepOptions step = {};
  TowerOptions tower = {};
  MakeFeed make_feed = vector_feed;
  std::vector<std::int64_t> feed_sizes = {};  ///< of one step; empty: four samples for each tower
  int steps = 5;
};

inline constexpr double kGoldenTolerance = 1e-12;

/// Gives the model the values of the group.
inline void copy_values(const TowerGroup& from, const torch::nn::Module& to) {
  torch::NoGradGuard no_grad;
  const ParameterTable table = table_of(to);
  const auto copy = [](const std::vector<NamedTensor>& source,
                       const std::vector<NamedTensor>& target) {
    ASSERT_EQ(source.size(), target.size());
    for (std::size_t i = 0; i < source.size(); ++i) target[i].tensor.copy_(source[i].tensor);
  };
  copy(from.master().trainable, table.trainable);
  copy(from.master().frozen, table.frozen);
}

/// Expects that towers with their feeds come to what one device comes to with all samples at once.
/// The two factories may differ in what must not matter, such as sparse gradients.
template <class MakeModel, class MakePlainModel>
void expect_equals_plain_training(const GoldenRun& run, MakeModel make_model,
                                  MakePlainModel make_plain) {
  auto sizes = run.feed_sizes;
  if (sizes.empty()) sizes.assign(static_cast<std::size_t>(run.towers), 4);

  auto towers = make_towers(run.towers.devices(), make_model, run.tower);
  auto plain_model = make_plain();
  copy_values(towers, *plain_model);
  const auto initial = copies(towers.master().trainable);
  SyncStep step(towers, run.optimizer, run.step);
  PlainTraining plain(plain_model, run.optimizer, run.step);
  for (int i = 0; i < run.steps; ++i) {
    const auto feeds = feeds_of(run.make_feed, sizes, i);
    const StepResult result = step.run(feeds, MeanSquare());
    EXPECT_NEAR(result.loss, plain.step(whole(feeds)), kGoldenTolerance);
    EXPECT_EQ(result.step, i);
  }
  EXPECT_LT(largest_difference(copies(towers.master().trainable), plain.parameters()),
            kGoldenTolerance);
  EXPECT_LT(largest_difference(step.updater().averages(), plain.averages()), kGoldenTolerance);
  EXPECT_GT(largest_difference(copies(towers.master().trainable), initial), 1e-3)
      << "nothing was learnt";
  for (int tower = 0; tower < run.towers; ++tower) {
    EXPECT_TRUE(
        all_equal(copies(towers.table(tower).trainable), copies(towers.master().trainable)));
  }
}

template <class MakeModel>
void expect_equals_plain_training(const GoldenRun& run, MakeModel make_model) {
  expect_equals_plain_training(run, make_model, make_model);
}

struct NamedOptimizer {
  std::string name;
  OptimizerOptions options;
};

inline void PrintTo(const NamedOptimizer& optimizer, std::ostream* out) { *out << optimizer.name; }

/// Every built-in optimizer in each of its forms.
inline std::vector<NamedOptimizer> all_optimizers() {
  return {
      {"sgd", Sgd{.learning_rate = 0.1}},
      {"momentum", Sgd{.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.1}},
      {"nesterov", Sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}},
      {"adam", Adam{.learning_rate = 0.02}},
      {"adamw", AdamW{.learning_rate = 0.02, .weight_decay = 0.1}},
      {"adagrad", Adagrad{.learning_rate = 0.05, .rate_decay = 0.1, .initial_accumulator = 0.1}},
      {"rmsprop", RmsProp{.learning_rate = 0.01}},
      {"rmsprop_momentum", RmsProp{.learning_rate = 0.01, .momentum = 0.9}},
      {"rmsprop_centered", RmsProp{.learning_rate = 0.01, .centered = true}},
      {"rmsprop_centered_momentum",
       RmsProp{.learning_rate = 0.01, .momentum = 0.9, .centered = true}}};
}

}  // namespace pagoda::testing
