// Clipping of each tower's gradient and of the combined one, against formulas with plain autograd.

#include <pagoda/base/error.h>
#include <pagoda/train/sync_step.h>

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"

namespace pagoda {
namespace sync_step_clip_test {

using testing::copies;
using testing::copy_values;
using testing::feeds_of;
using testing::in_double;
using testing::largest_difference;
using testing::Machine;
using testing::MeanSquare;
using testing::Mlp;
using testing::placed_machines;
using testing::PlacedMachine;
using testing::trainable_of;
using testing::vector_feed;
using testing::whole;

using Tensors = std::vector<at::Tensor>;

double norm_of(const Tensors& tensors) {
  double squares = 0;
  for (const auto& tensor : tensors) squares += tensor.square().sum().item<double>();
  return std::sqrt(squares);
}

void add_scaled(Tensors& sum, const Tensors& terms, double factor) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const at::Tensor term = factor * terms[i].detach();
    if (i < sum.size()) {
      sum[i] = sum[i] + term;
    } else {
      sum.push_back(term);
    }
  }
}

double clip(double norm, double max_norm) { return std::min(1.0, max_norm / norm); }

class ClipTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  static constexpr double kL2 = 0.3;

  ClipTest()
      : towers_(make_towers(GetParam().machine.devices(), [] { return in_double(Mlp()); },
                            {.placement = GetParam().placement})),
        plain_(in_double(Mlp())) {
    copy_values(towers_, *plain_);
  }

  /// The gradient of a batch's mean loss with the L2 term.
  Tensors gradient(const Batch& batch) {
    plain_->zero_grad();
    MeanSquare()(plain_, batch).backward();
    Tensors result;
    for (const auto& p : trainable_of(*plain_)) result.push_back(p.grad() + kL2 * p.detach());
    return result;
  }

  /// Feeds f with f mod towers = `tower`.
  std::vector<Batch> feeds_of_tower(int tower) const {
    std::vector<Batch> own;
    for (auto f = static_cast<std::size_t>(tower); f < feeds_.size();
         f += static_cast<std::size_t>(towers_.size())) {
      own.push_back(feeds_[f]);
    }
    return own;
  }

  /// Each tower's gradient, clipped on its own, weighted by its samples.
  Tensors combined(double max_tower_norm) {
    Tensors sum;
    for (int tower = 0; tower < towers_.size(); ++tower) {
      if (feeds_of_tower(tower).empty()) continue;
      const Batch batch = whole(feeds_of_tower(tower));
      const Tensors own = gradient(batch);
      add_scaled(sum, own,
                 clip(norm_of(own), max_tower_norm) * batch.weight() / whole(feeds_).weight());
    }
    return sum;
  }

  /// One step of plain descent with rate 1, so that the parameters lose exactly the gradient.
  StepResult descend(StepOptions options) {
    options.l2 = kL2;
    SyncStep step(towers_, Sgd{.learning_rate = 1}, options);
    return step.run(feeds_, MeanSquare());
  }

  /// How far the towers are from what descending by `gradients` gives.
  double distance_after(const Tensors& gradients) {
    Tensors expected = trainable_of(*plain_);
    add_scaled(expected, gradients, -1);
    return largest_difference(copies(towers_.master().trainable), expected);
  }

  Towers<Mlp> towers_;
  Mlp plain_;
  std::vector<Batch> feeds_ =
      feeds_of(vector_feed, {2, 5, 3, 4, 1}, 0);  // three towers: 2+4, 5+1, 3
};

INSTANTIATE_TEST_SUITE_P(Towers, ClipTest, ::testing::ValuesIn(placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(ClipTest, OfEachTower) {
  const double max_norm = 0.9 * norm_of(gradient(feeds_[1]));  // clips some towers and others not
  const Tensors expected = combined(max_norm);
  const StepResult result = descend({.max_tower_grad_norm = max_norm});
  EXPECT_LT(distance_after(expected), 1e-12);
  EXPECT_FALSE(result.grad_norm) << "nobody asked for it";
}

TEST_P(ClipTest, OfEachTowerAndOfTheMean) {
  const double max_norm = 0.9 * norm_of(gradient(feeds_[1]));
  Tensors sum = combined(max_norm);
  const double norm = norm_of(sum);
  Tensors expected;
  add_scaled(expected, sum, 0.5);
  const StepResult result = descend({.max_tower_grad_norm = max_norm, .max_grad_norm = norm / 2});
  EXPECT_LT(distance_after(expected), 1e-12);
  EXPECT_NEAR(*result.grad_norm, norm, 1e-12) << "the norm before the clip";
}

TEST_P(ClipTest, MeasuresTheNormWithoutClipping) {
  const Tensors expected = combined(std::numeric_limits<double>::infinity());
  EXPECT_NEAR(*descend({.measure_grad_norm = true}).grad_norm, norm_of(expected), 1e-12);
  EXPECT_LT(distance_after(expected), 1e-12);
}

TEST_P(ClipTest, RefusesNormsThatCannotBe) {
  for (const double norm : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(descend({.max_grad_norm = norm}), UsageError) << norm;
    EXPECT_THROW(descend({.max_tower_grad_norm = norm}), UsageError) << norm;
  }
}

/// Parameters after a few steps of a model whose table has gradients by row.
Tensors clipped_words(const PlacedMachine& placed, double l2, double max_norm = 0.05) {
  auto towers =
      make_towers(placed.machine.devices(), [] { return in_double(testing::Words(true)); },
                  {.seed = 3, .placement = placed.placement});
  SyncStep step(towers, Sgd{.learning_rate = 0.5}, {.max_tower_grad_norm = max_norm, .l2 = l2});
  for (int i = 0; i < 3; ++i)
    step.run(feeds_of(testing::word_feed, {2, 5, 3, 4, 1}, i), MeanSquare());
  return copies(towers.master().trainable);
}

TEST(ClipRowsTest, IsTheSameInEveryPlacement) {
  for (const double l2 : {0.0, 0.1}) {
    for (const auto& placed : placed_machines()) {
      SCOPED_TRACE(::testing::PrintToString(placed));
      const Tensors expected =
          clipped_words({Machine(placed.machine.towers), ParameterPlacement::host}, l2);
      EXPECT_LT(largest_difference(clipped_words(placed, l2), expected), 1e-12);
      EXPECT_GT(largest_difference(clipped_words(placed, l2, 1e6), expected), 1e-3);
    }
  }
}

}  // namespace sync_step_clip_test
}  // namespace pagoda
