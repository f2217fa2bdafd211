// An optimizer of the user's own stands wherever a built-in one does.

#include <pagoda/base/error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/async_fixtures.h"
#include "support/golden.h"
#include "support/own_formulas.h"

namespace pagoda {
namespace own_update_test {

using namespace pagoda::testing;

const LearningRate kRate = StepDecay{.base = 0.02, .factor = 0.5, .every = 2};
const StepOptions kEverything{.max_grad_norm = 0.4,
                              .l2 = 0.1,
                              .decay_scope = DecayScope::weights,
                              .parameter_rules = {{.names = "hidden.*", .rate_factor = 3}},
                              .moving_average = MovingAverage{.decay = 0.9}};

class OwnUpdateTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  /// Parameters, state and average after some steps.
  template <class Make>
  static std::vector<at::Tensor> trained(const AnyOptimizer& optimizer, Make make,
                                         MakeFeed make_feed, const StepOptions& options) {
    const auto [machine, placement] = GetParam();
    auto towers = make_towers(machine.devices(), make, {.placement = placement});
    SyncStep step(towers, optimizer, options);
    for (int i = 0; i < 5; ++i) step.run(feeds_of(make_feed, {2, 3, 1}, i), MeanSquare());
    auto all = copies(towers.master().trainable);
    for (const auto& tensor : copies(step.updater().state().optimizer)) all.push_back(tensor);
    for (const auto& tensor : step.updater().averages()) all.push_back(tensor);
    return all;
  }

  static bool elements_fit() {
    const auto [machine, placement] = GetParam();
    return machine.kind == DeviceKind::cpu || placement == ParameterPlacement::host;
  }
  static bool whole_fits() {
    return GetParam().placement != ParameterPlacement::spread || GetParam().machine.towers == 1;
  }
};
INSTANTIATE_TEST_SUITE_P(Towers, OwnUpdateTest, ::testing::ValuesIn(few_placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(OwnUpdateTest, EqualsTheBuiltInOneWhereItCanRun) {
  const auto builtin = trained(AdamW{.learning_rate = kRate}, make_mlp, vector_feed, kEverything);
  const auto elements = [&] {
    return trained(ElementAdamW{.learning_rate = kRate}, make_mlp, vector_feed, kEverything);
  };
  const auto whole = [&] {
    return trained(WholeAdamW{.learning_rate = kRate}, make_mlp, vector_feed, kEverything);
  };
  if (elements_fit()) {
    EXPECT_LT(largest_difference(elements(), builtin), kGoldenTolerance);
  } else {
    EXPECT_NE(message_of<UsageError>(elements).find("place parameters host"), std::string::npos);
  }
  if (whole_fits()) {
    EXPECT_LT(largest_difference(whole(), builtin), kGoldenTolerance);
  } else {
    EXPECT_NE(message_of<UsageError>(whole).find("shared, host or mirrored"), std::string::npos);
  }
}

TEST_P(OwnUpdateTest, RowsAreThoseOfTheBuiltInOne) {
  const auto sparse = [] { return in_double(Words(true)); };
  for (const RowUpdate rows : {RowUpdate::exact, RowUpdate::lazy}) {
    const StepOptions options{.rows = rows};
    const auto builtin = trained(AdamW{.learning_rate = 0.02}, sparse, word_feed, options);
    if (elements_fit()) {
      EXPECT_LT(
          largest_difference(
              trained(ElementAdamW{.learning_rate = 0.02}, sparse, word_feed, options), builtin),
          kGoldenTolerance);
      EXPECT_LT(largest_difference(trained(ElementSgd{}, sparse, word_feed, options),
                                   trained(Sgd{.learning_rate = 0.1}, sparse, word_feed, options)),
                kGoldenTolerance);
    }
    if (whole_fits() && rows == RowUpdate::exact) {
      EXPECT_LT(
          largest_difference(trained(WholeAdamW{.learning_rate = 0.02}, sparse, word_feed, options),
                             builtin),
          kGoldenTolerance);
    }
  }
}

template <class Formula>
class OwnFormulaTest : public ::testing::Test {};
using Formulas = ::testing::Types<ElementAdamW, WholeAdamW>;
TYPED_TEST_SUITE(OwnFormulaTest, Formulas);

TYPED_TEST(OwnFormulaTest, UpdatesAsynchronouslyToo) {
  const auto trained = [](const AnyOptimizer& optimizer) {
    auto towers = host_towers(1, make_mlp);
    AsyncStep step(towers, optimizer, kEverything);
    for (int i = 0; i < 4; ++i) {
      step.run(feeds_of(vector_feed, {5}, i), MeanSquare());
      step.finish();
    }
    return copies(towers.table(0).trainable);
  };
  EXPECT_LT(largest_difference(trained(TypeParam{.learning_rate = kRate}),
                               trained(AdamW{.learning_rate = kRate})),
            kGoldenTolerance);
}

TYPED_TEST(OwnFormulaTest, ResumesBitForBit) {
  const auto make = [] {
    return make_towers(cpu_devices(3), make_mlp, {.placement = ParameterPlacement::mirrored});
  };
  const auto run = [](auto& step, int from, int to) {
    for (int i = from; i < to; ++i) step.run(feeds_of(vector_feed, {2, 3, 1}, i), MeanSquare());
  };
  auto towers = make();
  SyncStep step(towers, TypeParam{.learning_rate = kRate}, kEverything);
  run(step, 0, 3);
  const Checkpoint middle = snapshot(towers, step, {.step = 3}, "");
  run(step, 3, 6);

  auto resumed = make();
  SyncStep other(resumed, TypeParam{.learning_rate = kRate}, kEverything);
  run(other, 0, 1);
  restore(middle, resumed, other);
  run(other, 3, 6);
  EXPECT_TRUE(all_equal(copies(resumed.master().trainable), copies(towers.master().trainable)));
  EXPECT_TRUE(all_equal(other.updater().averages(), step.updater().averages()));
}

}  // namespace own_update_test
}  // namespace pagoda
