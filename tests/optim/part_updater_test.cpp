#include "optim/part_updater.h"

#include <pagoda/base/error.h>

#include <memory>
#include <vector>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "optim/fused_updater.h"
#include "optim/update_fixtures.h"

namespace pagoda {
namespace part_updater_test {

using namespace pagoda::testing;

Parameters new_parameters() {
  return {{"w", filled({200, 331}, at::kFloat, start)}, {"b", filled({7}, at::kFloat, start)}};
}

/// Updaters of `count` copies of the parameters, as towers have them.
struct Joint {
  Joint(int count, Joined joined, const OptimizerOptions& optimizer) {
    std::vector<std::unique_ptr<PartUpdater>> updaters;
    for (int i = 0; i < count; ++i) {
      copies.push_back(new_parameters());
      const UpdatePart part = joined == Joined::parts ? UpdatePart{i, count} : UpdatePart{};
      updaters.push_back(make_part_updater(copies.back(), optimizer, kL2AndAverage, part));
    }
    updater = join_updaters(std::move(updaters), joined);
  }

  std::vector<Parameters> copies;
  std::unique_ptr<Updater> updater;
};

class PartUpdaterTest : public ::testing::TestWithParam<NamedOptimizer> {};
INSTANTIATE_TEST_SUITE_P(EveryOptimizer, PartUpdaterTest, ::testing::ValuesIn(every_optimizer()),
                         name_of);

TEST_P(PartUpdaterTest, CopiesAreEqualToOneUpdater) {
  const Parameters whole = new_parameters();
  const auto of_whole = make_fused_updater(whole, GetParam().options, kL2AndAverage);
  const Joint joint(3, Joined::copies, GetParam().options);
  for (std::int64_t update = 0; update < 3; ++update) {
    run_update(*of_whole, dense_view(whole, {0.5, 0.5}, update), update);
    run_update(*joint.updater, dense_view(whole, {0.5, 0.5}, update), update, 3);
  }
  for (const auto& copy : joint.copies)
    expect_same_bits(everything(copy, *joint.updater), everything(whole, *of_whole));
}

TEST_P(PartUpdaterTest, PartsChangeTheirElementsAndMakeUpOneUpdater) {
  const Parameters whole = new_parameters();
  const auto of_whole = make_fused_updater(whole, GetParam().options, kL2AndAverage);
  const Joint joint(3, Joined::parts, GetParam().options);
  run_update(*of_whole, dense_view(whole, {0.5, 0.5}, 0), 0);
  run_update(*joint.updater, dense_view(whole, {0.5, 0.5}, 0), 0, 3);

  const UpdaterState state = joint.updater->state();
  const UpdaterState expected = of_whole->state();
  for (std::size_t i = 0; i < expected.optimizer.size(); ++i)
    EXPECT_TRUE(same_bits(state.optimizer[i].tensor, expected.optimizer[i].tensor));
  for (std::size_t i = 0; i < expected.averages.size(); ++i)
    EXPECT_TRUE(same_bits(state.averages[i], expected.averages[i]));
  const BlockPlan plan(whole);
  const Parameters before = new_parameters();
  for (int part = 0; part < 3; ++part) {
    for (int owner = 0; owner < 3; ++owner) {
      const auto ranges = plan.ranges(owner, 3);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const auto& should_be = owner == part ? whole[i].tensor : before[i].tensor;
        const auto& is = joint.copies[static_cast<std::size_t>(part)][i].tensor;
        EXPECT_TRUE(elements_of(is, ranges[i]).equal(elements_of(should_be, ranges[i])));
      }
    }
  }
}

TEST_P(PartUpdaterTest, StateGoesFromPartsToCopies) {
  const Joint parts(3, Joined::parts, GetParam().options);
  run_update(*parts.updater, dense_view(new_parameters(), {1}, 0), 0, 3);
  const Joint copies(2, Joined::copies, GetParam().options);
  copies.updater->load(parts.updater->state());
  expect_same_bits(everything({}, *copies.updater), everything({}, *parts.updater));
}

TEST(PartUpdaterTest, RefusesWhatItCannotUpdate) {
  EXPECT_THROW(make_part_updater({{"p", at::empty({3}, at::kHalf)}}, Sgd{}, {}, {}), UsageError);
  EXPECT_THROW(make_part_updater({{"p", at::empty({3})}}, Adam{.beta1 = 1}, {}, {}), UsageError);
}

}  // namespace part_updater_test
}  // namespace pagoda
