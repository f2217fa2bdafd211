#include "reduce/combine.h"

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "params/block_plan.h"
#include "params/gradient_visit.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace combine_test {

using testing::cpu_devices;
using testing::kTowerCounts;
using testing::largest_difference;
using Form = ParameterGradient::Form;

/// Row r of tower t: 100 t + 10 r + column; only the listed rows, in the listed order.
at::Tensor rows(int tower, const std::vector<std::int64_t>& listed, std::int64_t columns = 3) {
  const at::Tensor index = torch::tensor(listed, torch::kLong).reshape({1, -1});
  const at::Tensor values =
      100.0 * tower + 10.0 * index.t().to(torch::kDouble) + torch::arange(columns, torch::kDouble);
  return torch::sparse_coo_tensor(index, values, {7, columns});
}

/// The whole weighted sum that a reader of the gradient sees.
at::Tensor sum_of(const at::Tensor& parameter, const ParameterGradient& gradient,
                  const std::vector<double>& weights) {
  at::Tensor sum = torch::full_like(parameter.detach(), -1);
  auto* out = sum.mutable_data_ptr<double>();
  visit_gradient<double>(gradient, weights, row_elements(parameter), 0, parameter.numel(),
                         Sweep::all,
                         [&](std::int64_t offset, std::int64_t count, const double* values) {
                           std::copy(values, values + count, out + offset);
                         });
  return sum;
}

TEST(CombineTest, NoGradientAtAll) {
  EXPECT_EQ(combine(torch::zeros({2, 3}), {at::Tensor(), at::Tensor()}).form, Form::none);
}

TEST(CombineTest, DenseGradientsAreHandedOnAsTheyAre) {
  const at::Tensor parameter = torch::zeros({2, 3}, torch::kDouble);
  const at::Tensor one = torch::ones_like(parameter);
  const ParameterGradient gradient = combine(parameter, {one, at::Tensor(), 2 * one});
  EXPECT_EQ(gradient.form, Form::dense);
  EXPECT_EQ(gradient.towers[0].data_ptr(), one.data_ptr());
  EXPECT_TRUE(sum_of(parameter, gradient, {1, 10, 100}).equal(201 * one));
}

TEST(CombineTest, RowsAreMergedInRowAndTowerOrder) {
  const at::Tensor parameter = torch::zeros({7, 3}, torch::kDouble);
  const std::vector<at::Tensor> towers = {rows(0, {1, 5}).coalesce(), at::Tensor(),
                                          rows(2, {0, 5, 6}).coalesce()};
  const ParameterGradient gradient = combine(parameter, towers);
  ASSERT_EQ(gradient.form, Form::rows);
  std::vector<std::pair<std::int64_t, std::vector<int>>> found;
  for (const auto& [row, shares] : gradient.touched) {
    auto& entry = found.emplace_back(row, std::vector<int>());
    for (const auto& share : shares) entry.second.push_back(share.tower);
  }
  EXPECT_EQ(found, (decltype(found){{0, {2}}, {1, {0}}, {5, {0, 2}}, {6, {2}}}));
  const at::Tensor expected = 2 * towers[0].to_dense() + 3 * towers[2].to_dense();
  EXPECT_TRUE(sum_of(parameter, gradient, {2, 9, 3}).equal(expected));
}

TEST(CombineTest, OneDenseGradientMakesAllDense) {
  const at::Tensor parameter = torch::zeros({7, 3}, torch::kDouble);
  const at::Tensor one = torch::ones_like(parameter);
  const at::Tensor sparse = rows(0, {1, 5}).coalesce();
  const ParameterGradient gradient = combine(parameter, {sparse, one});
  EXPECT_EQ(gradient.form, Form::dense);
  EXPECT_TRUE(sum_of(parameter, gradient, {2, 3}).equal(2 * sparse.to_dense() + 3 * one));
}

/// A model of one parameter, whose gradients the tests write themselves.
struct OneParameter : torch::nn::Module {
  explicit OneParameter(at::Tensor values) : p(register_parameter("p", std::move(values))) {}
  at::Tensor p;
};

struct CollectorFixture {
  CollectorFixture(int count, const at::Tensor& values)
      : towers(cpu_devices(count),
               [&](int) { return std::make_shared<OneParameter>(values.clone()); }),
        collector(towers.replicas()) {}

  const at::Tensor& parameter(int tower) const { return towers.table(tower).trainable[0].tensor; }

  /// Every tower collects the gradient that `make` gives for it.
  template <class Make>
  void collect(Make make) {
    towers.run({.name = "collect"}, [&](TowerJob& job) {
      parameter(job.tower).mutable_grad() = make(job.tower);
      collector.collect(job.tower);
    });
  }

  at::Tensor sum(const std::vector<double>& weights) const {
    const GradientView view = collector.view(weights);
    return sum_of(towers.master().trainable[0].tensor, view.parameters[0], view.weights);
  }

  TowerGroup towers;
  GradientCollector collector;
};

class GradientCollectorTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Towers, GradientCollectorTest, ::testing::ValuesIn(kTowerCounts));

TEST_P(GradientCollectorTest, SumsDenseGradientsWithTheirWeights) {
  const int count = GetParam();
  const at::Tensor element = torch::arange(2003, torch::kDouble);  // prime, more than a span
  CollectorFixture fixture(count, torch::zeros(2003, torch::kDouble));
  fixture.collect([&](int tower) { return element + tower; });
  std::vector<double> weights;
  double weight_sum = 0;
  double weighted_towers = 0;
  for (int tower = 0; tower < count; ++tower) {
    weights.push_back(tower + 1);
    weight_sum += tower + 1;
    weighted_towers += (tower + 1) * tower;
  }
  EXPECT_TRUE(fixture.sum(weights).equal(weight_sum * element + weighted_towers));
}

TEST_P(GradientCollectorTest, SumsRowsThatTheTowersListInAnyOrder) {
  CollectorFixture fixture(GetParam(), torch::zeros({7, 3}, torch::kDouble));
  at::Tensor expected = torch::zeros({7, 3}, torch::kDouble);
  for (int tower = 0; tower < GetParam(); ++tower)
    expected += rows(tower, {tower % 7, 6, 2, 6}).to_dense();
  fixture.collect([](int tower) { return rows(tower, {tower % 7, 6, 2, 6}); });
  EXPECT_EQ(fixture.collector.view({}).parameters[0].form, Form::rows);
  EXPECT_TRUE(
      fixture.sum(std::vector<double>(static_cast<std::size_t>(GetParam()), 1)).equal(expected));
}

TEST_P(GradientCollectorTest, ATowersOwnViewHasItsOwnGradientOnly) {
  CollectorFixture fixture(GetParam(), torch::zeros(5, torch::kDouble));
  fixture.collect([](int tower) { return torch::full({5}, tower + 1.0, torch::kDouble); });
  for (int tower = 0; tower < GetParam(); ++tower) {
    const GradientView view = fixture.collector.view({3}, {tower});
    EXPECT_TRUE(sum_of(fixture.parameter(0), view.parameters[0], view.weights)
                    .equal(torch::full({5}, 3 * (tower + 1.0), torch::kDouble)));
  }
}

TEST_P(GradientCollectorTest, TakesTheGradientsOutOfTheModels) {
  CollectorFixture fixture(GetParam(), torch::zeros(5, torch::kDouble));
  fixture.collect([](int) { return torch::ones(5, torch::kDouble); });
  for (int tower = 0; tower < GetParam(); ++tower)
    EXPECT_FALSE(fixture.parameter(tower).grad().defined());
  fixture.collect([](int) { return at::Tensor(); });
  EXPECT_EQ(fixture.collector.view({}).parameters[0].form, Form::none)
      << "nothing of the step before";
}

TEST_P(GradientCollectorTest, ReleaseAndDiscardDropGradients) {
  CollectorFixture fixture(GetParam(), torch::zeros(5, torch::kDouble));
  const auto ones = [](int) { return torch::ones(5, torch::kDouble); };
  fixture.collect(ones);
  for (int tower = 0; tower < GetParam(); ++tower) fixture.collector.release(tower);
  EXPECT_EQ(fixture.collector.view({}).parameters[0].form, Form::none);
  fixture.collect(ones);
  fixture.parameter(0).mutable_grad() = ones(0);
  fixture.collector.discard();
  EXPECT_EQ(fixture.collector.view({}).parameters[0].form, Form::none);
  EXPECT_FALSE(fixture.parameter(0).grad().defined());
}

/// Parameters whose elements do not lie in the order of their indices.
std::vector<std::pair<const char*, at::Tensor>> unusual_layouts() {
  return {{"transposed", torch::zeros({3, 7}, torch::kDouble).t()},
          {"channels_last", torch::zeros({7, 3, 2, 2}, torch::kDouble)}};
}

TEST_P(GradientCollectorTest, BringsGradientsIntoTheParametersLayout) {
  for (const auto& [name, values] : unusual_layouts()) {
    CollectorFixture fixture(GetParam(), values);
    const at::Tensor& parameter = fixture.towers.master().trainable[0].tensor;
    ASSERT_FALSE(parameter.is_contiguous()) << name;
    const at::Tensor gradient =
        torch::arange(values.numel(), torch::kDouble).reshape(values.sizes());
    const std::vector<double> ones(static_cast<std::size_t>(GetParam()), 1);
    fixture.collect([&](int) { return gradient; });
    EXPECT_TRUE(fixture.sum(ones).equal(GetParam() * gradient)) << name;
    fixture.collect([&](int) { return gradient.to_sparse(1); });
    EXPECT_TRUE(fixture.sum(ones).equal(GetParam() * gradient)) << name << ", sparse";
    fixture.collect([&](int) { return gradient.to_sparse(); });
    EXPECT_TRUE(fixture.sum(ones).equal(GetParam() * gradient))
        << name << ", sparse in all dimensions";
  }
}

}  // namespace combine_test
}  // namespace pagoda
