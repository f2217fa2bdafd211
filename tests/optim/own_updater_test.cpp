#include "optim/own_updater.h"

#include <pagoda/base/error.h>
#include <pagoda/optim/any_optimizer.h>

#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "optim/fused_updater.h"
#include "optim/update_fixtures.h"
#include "support/own_formulas.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace own_updater_test {

using namespace pagoda::testing;

Parameters new_parameters() {
  return {{"w", filled({200, 331}, at::kDouble, start)},
          {"conv", filled({3, 2, 5, 7}, at::kDouble, start).to(at::MemoryFormat::ChannelsLast)},
          {"b", filled({7}, at::kDouble, start)},
          {"none", filled({0, 3}, at::kDouble, start)}};
}

template <class Formula>
std::unique_ptr<PartUpdater> updater_of(const Parameters& parameters, Formula formula,
                                        const UpdateOptions& options = {}, UpdatePart part = {}) {
  const AnyOptimizer any(std::move(formula));
  if constexpr (ElementFormula<Formula>) {
    return make_element_updater(
        parameters, std::get<std::shared_ptr<const detail::ElementUpdate>>(any.choice()), options,
        part);
  } else {
    return make_whole_updater(parameters,
                              std::get<std::shared_ptr<const detail::WholeUpdate>>(any.choice()),
                              options, part);
  }
}

template <class Formula>
class OwnUpdaterTest : public ::testing::Test {};
using Formulas = ::testing::Types<ElementAdamW, WholeAdamW>;
TYPED_TEST_SUITE(OwnUpdaterTest, Formulas);

TYPED_TEST(OwnUpdaterTest, EqualsTheBuiltInOneInAnyNumberOfShares) {
  const UpdateOptions options{
      .l2 = 0.3,
      .decay_scope = DecayScope::weights,
      .moving_average = MovingAverage{.decay = 0.9},
      .rules = {{.names = "b", .rate_factor = 2, .weight_decay = 0.2}, {.names = "w", .l2 = 0.1}}};
  for (const int shares : {1, 3, 100}) {
    const Parameters ours = new_parameters();
    const Parameters theirs = new_parameters();
    const auto own = updater_of(ours, TypeParam{.weight_decay = 0.1}, options);
    const auto builtin = make_fused_updater(theirs, AdamW{.weight_decay = 0.1}, options);
    for (std::int64_t update = 0; update < 3; ++update) {
      run_update(*own, dense_view(ours, {0.5, 0.5}, update), update, shares);
      run_update(*builtin, dense_view(theirs, {0.5, 0.5}, update), update);
    }
    EXPECT_LT(largest_difference(everything(ours, *own), everything(theirs, *builtin)), 1e-12);
  }
}

TYPED_TEST(OwnUpdaterTest, NamesItsStateAsTheBuiltInOnesDo) {
  const Parameters parameters = new_parameters();
  const UpdaterState own = updater_of(parameters, TypeParam{})->state();
  const UpdaterState builtin = make_fused_updater(parameters, AdamW{}, {})->state();
  ASSERT_EQ(own.optimizer.size(), builtin.optimizer.size());
  for (std::size_t i = 0; i < own.optimizer.size(); ++i) {
    EXPECT_EQ(own.optimizer[i].name, builtin.optimizer[i].name);
    EXPECT_EQ(own.optimizer[i].tensor.strides(), builtin.optimizer[i].tensor.strides());
  }
}

TYPED_TEST(OwnUpdaterTest, GoesOnFromALoadedState) {
  const Parameters parameters = new_parameters();
  const auto first = updater_of(parameters, TypeParam{}, kL2AndAverage);
  run_update(*first, dense_view(parameters, {1}, 0), 0);
  Parameters copies;
  for (const auto& [name, tensor] : parameters) copies.push_back({name, tensor.clone()});
  const auto second = updater_of(copies, TypeParam{}, kL2AndAverage);
  second->load(first->state());
  run_update(*first, dense_view(parameters, {1}, 1), 1);
  run_update(*second, dense_view(copies, {1}, 1), 1);
  expect_same_bits(everything(copies, *second), everything(parameters, *first));
}

TYPED_TEST(OwnUpdaterTest, RefusesNamesThatACheckpointCannotHave) {
  struct Named : TypeParam {
    explicit Named(std::vector<StateArray> arrays) : arrays_(std::move(arrays)) {}
    std::vector<StateArray> state() const { return arrays_; }

   private:
    std::vector<StateArray> arrays_;
  };
  const Parameters parameters = new_parameters();
  for (const std::vector<StateArray>& wrong : std::vector<std::vector<StateArray>>{
           {{""}}, {{"updates"}}, {{"a/b"}}, {{"a"}, {"a"}}, {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}}) {
    EXPECT_THROW(updater_of(parameters, Named(wrong)), UsageError);
  }
  EXPECT_NO_THROW(updater_of(parameters, Named({{"a", 0.5}, {"b"}, {"c"}, {"d"}})));
}

TEST(OwnUpdaterTest, StateStartsAtItsInitialValue) {
  struct Counting : ElementSgd {
    std::vector<StateArray> state = {{"ones", 1}};
  };
  const UpdaterState state = updater_of(new_parameters(), Counting{})->state();
  EXPECT_TRUE(state.optimizer.front().tensor.eq(1).all().template item<bool>());
}

TEST(OwnUpdaterTest, SaysWhereAFormulaCannotRun) {
  const Parameters parameters = new_parameters();
  EXPECT_NE(message_of<UsageError>([&] {
              updater_of(parameters, WholeAdamW{}, {}, {.number = 0, .count = 2});
            }).find("shared, host or mirrored"),
            std::string::npos);
  EXPECT_THROW(updater_of(parameters, WholeAdamW{}, {.rows = RowUpdate::lazy}), UsageError);
  EXPECT_THROW(updater_of({{"m", at::empty({3}, at::device(at::kMeta))}}, ElementAdamW{}),
               UsageError);
  EXPECT_THROW(updater_of({{"h", at::empty({3}, at::kHalf)}}, ElementAdamW{}), UsageError);
  EXPECT_THROW(updater_of({{"h", at::empty({3}, at::kHalf)}}, WholeAdamW{}), UsageError);
  EXPECT_THROW(
      updater_of(parameters, ElementSgd{}, {.rules = {{.names = "*", .weight_decay = 0.1}}}),
      UsageError);
}

}  // namespace own_updater_test
}  // namespace pagoda
