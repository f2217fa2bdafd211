#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "optim/fused_updater.h"
#include "optim/update_fixtures.h"
#include "params/gradient_fixtures.h"

namespace pagoda {
namespace fused_updater_rows_test {

using namespace pagoda::testing;

/// What three towers touch of a parameter with 20 rows: some rows twice, some towers nothing.
/// With long rows there are two blocks, and 14 and 15 are on both sides of the boundary.
std::vector<TowerRows> touched_rows(const at::Tensor& parameter, std::int64_t update) {
  const std::vector<std::vector<std::int64_t>> rows =
      update % 2 == 0 ? std::vector<std::vector<std::int64_t>>{{0, 4, 14}, {4, 15}, {}}
                      : std::vector<std::vector<std::int64_t>>{{}, {3}, {2, 3, 19}};
  std::vector<TowerRows> towers;
  for (std::size_t tower = 0; tower < rows.size(); ++tower) {
    const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(rows[tower].size()),
                                             parameter.size(1)};
    towers.push_back(
        {.rows = rows[tower], .values = filled(shape, parameter.scalar_type(), [&](std::int64_t i) {
                                return slope(static_cast<std::int64_t>(tower), update, i);
                              })});
  }
  return towers;
}

const std::vector<double> kTowerWeights = {0.5, 0.3, 0.2};

class FusedUpdaterRowsTest : public ::testing::TestWithParam<NamedOptimizer> {
 protected:
  std::unique_ptr<Updater> updater_of(const Parameters& parameters,
                                      const UpdateOptions& options = {}) const {
    return make_fused_updater(parameters, GetParam().options, options);
  }
};

TEST_P(FusedUpdaterRowsTest, ExactRowsEqualADenseGradient) {
  for (const std::int64_t row : {std::int64_t{3}, kSpanElements + 1}) {
    for (const double l2 : {0.0, 0.01}) {
      const UpdateOptions options{.l2 = l2, .moving_average = MovingAverage{.decay = 0.75}};
      const Parameters sparse = {{"embedding", filled({20, row}, at::kDouble, start)}};
      const Parameters dense = copy_of(sparse);
      const auto of_sparse = updater_of(sparse, options);
      const auto of_dense = updater_of(dense, options);
      for (std::int64_t update = 0; update < 4; ++update) {
        const auto towers = touched_rows(sparse[0].tensor, update);
        std::vector<at::Tensor> full;
        for (const auto& tower : towers) full.push_back(as_dense(tower, dense[0].tensor));
        run_update(*of_sparse, {.weights = kTowerWeights, .parameters = {row_gradient(towers)}},
                   update, 3);
        run_update(*of_dense, {.weights = kTowerWeights, .parameters = {dense_gradient(full)}},
                   update, 3);
      }
      expect_near(everything(sparse, *of_sparse), everything(dense, *of_dense), 1e-12);
    }
  }
}

TEST_P(FusedUpdaterRowsTest, LazyRowsLeaveTheOthersAlone) {
  UpdateOptions options = kL2AndAverage;
  const Parameters exact = {{"embedding", filled({20, 3}, at::kDouble, start)}};
  const Parameters lazy = copy_of(exact);
  const auto of_exact = updater_of(exact, options);
  options.rows = RowUpdate::lazy;
  const auto of_lazy = updater_of(lazy, options);
  const GradientView warm_up = dense_view(lazy, {1}, 0);  // so that there is state to leave alone
  run_update(*of_exact, warm_up, 0);
  run_update(*of_lazy, warm_up, 0);
  const auto before = copies(everything(lazy, *of_lazy));

  const GradientView rows{.weights = kTowerWeights,
                          .parameters = {row_gradient(touched_rows(lazy[0].tensor, 1))}};
  run_update(*of_exact, rows, 1);
  run_update(*of_lazy, rows, 1);
  const auto after = everything(lazy, *of_lazy);
  const auto after_exact = everything(exact, *of_exact);
  const double decay = 3.0 / 12;  // of the second update
  for (std::int64_t row = 0; row < 20; ++row) {
    const bool touched = row == 2 || row == 3 || row == 19;
    for (std::size_t i = 0; i < after.size() - 1; ++i) {  // the last are the counts of updates
      if (touched) {
        EXPECT_TRUE(same_bits(after[i][row], after_exact[i][row]))
            << "tensor " << i << ", row " << row;
      } else if (i == 1) {
        const at::Tensor expected = decay * before[1][row] + (1 - decay) * after[0][row];
        EXPECT_TRUE(all_near(after[1][row], expected, 1e-12)) << "average, row " << row;
      } else {
        EXPECT_TRUE(same_bits(after[i][row], before[i][row])) << "tensor " << i << ", row " << row;
      }
    }
  }
  EXPECT_FALSE(lazy[0].tensor.equal(exact[0].tensor)) << "L2 must tell them apart";
}

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, FusedUpdaterRowsTest,
                         ::testing::ValuesIn(every_optimizer()), name_of);

}  // namespace fused_updater_rows_test
}  // namespace pagoda
