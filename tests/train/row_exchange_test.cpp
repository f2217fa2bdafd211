#include "train/row_exchange.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "reduce/combine.h"
#include "world/ranks.h"

namespace pagoda {
namespace row_exchange_test {

constexpr std::int64_t kRows = 11;

std::shared_ptr<World> borrowed(World& world) {
  return {&world, [](World*) {}};
}

std::vector<NamedTensor> tables() {
  return {{"floats", torch::zeros({kRows, 3})},
          {"dense", torch::zeros({4})},
          {"doubles", torch::zeros({kRows, 2, 2}, at::kDouble)}};
}

/// Rank r has touched the rows r, r + 2, …, as many as its number; the values are the row's number.
at::Tensor touched(const at::Tensor& table, int rank) {
  const at::Tensor rows = torch::arange(rank) * 2 + rank;
  std::vector<std::int64_t> shape = table.sizes().vec();
  shape[0] = rank;
  const at::Tensor values = torch::ones(shape, table.scalar_type()) *
                            rows.view({-1, 1}).expand({rank, table[0].numel()}).reshape(shape);
  return torch::sparse_coo_tensor(rows.unsqueeze(0), values, table.sizes())._coalesced_(true);
}

class RowExchangeTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, RowExchangeTest, ::testing::Values(1, 2, 3, 4));

TEST_P(RowExchangeTest, EveryRankGetsAllRowsWeighted) {
  on_ranks(GetParam(), [](World& world) {
    const auto parameters = tables();
    RowExchange exchange(borrowed(world), parameters, WireType::fp32, std::vector<at::Tensor>(3));
    GradientView own{.weights = {2.0}, .parameters = std::vector<ParameterGradient>(3)};
    RowExchange::Counts counts(3);
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
      own.parameters[i] =
          combine(parameters[i].tensor, {touched(parameters[i].tensor, world.rank())});
      for (int rank = 0; rank < world.size(); ++rank) counts[i].push_back(rank);
    }
    GradientView all{.weights = {}, .parameters = std::vector<ParameterGradient>(3)};
    exchange.run(own, own.weights, counts, all);
    EXPECT_EQ(all.parameters[1].form, ParameterGradient::Form::none);
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
      at::Tensor expected = torch::zeros_like(parameters[i].tensor);
      at::Tensor found = torch::zeros_like(expected);
      for (int rank = 0; rank < world.size(); ++rank) {
        expected += 2 * touched(expected, rank).to_dense();
        const at::Tensor& one = all.parameters[i].towers[static_cast<std::size_t>(rank)];
        if (one.defined()) found += one.to_dense();
      }
      EXPECT_TRUE(found.equal(expected));
    }
    // Numbers of 4 bytes and rows of 12 and 32, each part filled up to 8.
    const auto padded = [](std::int64_t bytes) { return (bytes + 7) / 8 * 8; };
    const std::int64_t n = world.rank();
    EXPECT_EQ(world.traffic().bytes,
              (world.size() - 1) * (2 * padded(4 * n) + padded(12 * n) + 32 * n));
  });
}

TEST(RowExchangeWireTest, RoundedRowsKeepWhatTheyLoseUntilTheyAreTouchedAgain) {
  on_ranks(2, [](World& world) {
    const std::vector<NamedTensor> parameters{{"table", torch::zeros({kRows, 3})}};
    const at::Tensor lost = torch::zeros({kRows, 3});
    RowExchange exchange(borrowed(world), parameters, WireType::bf16, {lost});
    const at::Tensor value = torch::full({1, 3}, 1 + std::ldexp(1, -10));  // rounds to 1
    const at::Tensor row = torch::full({1, 1}, 5, at::kLong);
    GradientView own{.weights = {1.0}, .parameters = {}};
    own.parameters.push_back(combine(
        parameters[0].tensor,
        {torch::sparse_coo_tensor(row, value, parameters[0].tensor.sizes())._coalesced_(true)}));
    at::Tensor total = torch::zeros({3});
    for (int step = 0; step < 64; ++step) {
      GradientView all{.weights = {}, .parameters = std::vector<ParameterGradient>(1)};
      exchange.run(own, own.weights, {{1, 1}}, all);
      total += all.parameters[0].towers[0].to_dense()[5];
    }
    EXPECT_TRUE((total + lost[5]).allclose(64 * value[0], 1e-6, 0));
    EXPECT_GT(total[0].item<float>(), 64);  // something of what was lost has come
  });
}

}  // namespace row_exchange_test
}  // namespace pagoda
