#include <pagoda/base/error.h>
#include <pagoda/models/rnn_layer.h>

#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace rnn_layer_test {

constexpr std::int64_t kInput = 5;
constexpr std::int64_t kHidden = 4;
constexpr double kClose = 1e-12;

RnnLayer make_layer(Cell cell, bool reverse, at::ScalarType type = at::kDouble) {
  torch::manual_seed(3);
  RnnLayer layer(
      RnnLayerOptions{.input = kInput, .hidden = kHidden, .cell = cell, .reverse = reverse});
  layer->to(type);
  return layer;
}

at::Tensor inputs_of(std::int64_t time, std::int64_t batch) {
  torch::manual_seed(5);
  return torch::randn({time, batch, kInput}, torch::kDouble);
}

/// LibTorch's layer with the same weights; sequences are reversed by hand.
template <class Reference>
Reference reference_of(const RnnLayer& layer) {
  Reference reference(kInput, kHidden);
  reference->to(torch::kDouble);
  torch::NoGradGuard no_grad;
  const auto ours = layer->named_parameters();
  for (auto& item : reference->named_parameters()) {
    const std::string name = item.key().substr(0, item.key().size() - 3);  // without _l0
    item.value().copy_(ours[name]);
  }
  return reference;
}

void expect_close(const at::Tensor& a, const at::Tensor& b, double tolerance = kClose) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>(), tolerance);
}

/// A loss in which every output and state counts differently.
at::Tensor mixed(const at::Tensor& outputs, const at::Tensor& hidden, const at::Tensor& cell) {
  const auto weigh = [](const at::Tensor& t) {
    const at::Tensor places = torch::arange(t.numel(), t.options()).reshape(t.sizes());
    return (t * (places * 0.7).sin()).sum();
  };
  at::Tensor sum = weigh(outputs) + 0.5 * weigh(hidden);
  if (cell.defined()) sum = sum + 0.3 * weigh(cell);
  return sum;
}

class RnnLayerTest : public ::testing::TestWithParam<std::tuple<Cell, bool>> {
 protected:
  Cell cell() const { return std::get<0>(GetParam()); }
  bool reverse() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Cells, RnnLayerTest,
                         ::testing::Combine(::testing::Values(Cell::lstm, Cell::gru),
                                            ::testing::Bool()));

TEST_P(RnnLayerTest, ComputesWhatLibTorchDoesWithTheSameGradients) {
  RnnLayer layer = make_layer(cell(), reverse());
  const at::Tensor x = inputs_of(6, 3).requires_grad_();
  const at::Tensor h0 = torch::full({3, kHidden}, 0.2, torch::kDouble).requires_grad_();
  const at::Tensor c0 = torch::full({3, kHidden}, -0.3, torch::kDouble).requires_grad_();
  const RnnResult ours = layer(x, at::Tensor(), RnnState{h0, c0});
  mixed(ours.outputs, ours.last.hidden, ours.last.cell).backward();
  std::vector<at::Tensor> gradients{x.grad().clone(), h0.grad().clone()};
  for (const auto& p : layer->parameters()) gradients.push_back(p.grad().clone());
  for (auto leaf : {x, h0, c0}) leaf.mutable_grad().reset();

  const auto turned = [&](const at::Tensor& t) { return reverse() ? t.flip(0) : t; };
  at::Tensor outputs, hidden, last_cell;
  std::vector<at::Tensor> parameters;
  if (cell() == Cell::lstm) {
    auto reference = reference_of<torch::nn::LSTM>(layer);
    const auto [out, states] =
        reference->forward(turned(x), std::make_tuple(h0.unsqueeze(0), c0.unsqueeze(0)));
    outputs = turned(out);
    hidden = std::get<0>(states)[0];
    last_cell = std::get<1>(states)[0];
    parameters = reference->parameters();
  } else {
    auto reference = reference_of<torch::nn::GRU>(layer);
    const auto [out, state] = reference->forward(turned(x), h0.unsqueeze(0));
    outputs = turned(out);
    hidden = state[0];
    parameters = reference->parameters();
  }
  expect_close(ours.outputs, outputs);
  expect_close(ours.last.hidden, hidden);
  mixed(outputs, hidden, last_cell).backward();
  expect_close(gradients[0], x.grad());
  expect_close(gradients[1], h0.grad());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    expect_close(gradients[i + 2], parameters[i].grad());
  }
}

TEST_P(RnnLayerTest, ASequenceInABatchIsWhatItIsAlone) {
  RnnLayer layer = make_layer(cell(), reverse());
  const std::vector<std::int64_t> lengths{4, 1, 6};
  const at::Tensor x = inputs_of(6, 3);
  const RnnResult together = layer(x, torch::tensor(lengths, torch::kLong));
  layer->zero_grad();
  at::Tensor sum = together.last.hidden.square().sum();
  for (std::int64_t b = 0; b < 3; ++b) {
    sum = sum + together.outputs.narrow(0, 0, lengths[static_cast<std::size_t>(b)])
                    .select(1, b)
                    .sin()
                    .sum();
  }
  sum.backward();
  std::vector<at::Tensor> gradients;
  for (const auto& p : layer->parameters()) gradients.push_back(p.grad().clone());

  layer->zero_grad();
  for (std::int64_t b = 0; b < 3; ++b) {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    const RnnResult alone = layer(x.narrow(0, 0, length).narrow(1, b, 1));
    expect_close(together.outputs.narrow(0, 0, length).narrow(1, b, 1), alone.outputs);
    expect_close(together.last.hidden.narrow(0, b, 1), alone.last.hidden);
    (alone.last.hidden.square().sum() + alone.outputs.sin().sum()).backward();
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    expect_close(gradients[i], layer->parameters()[i].grad());
  }
}

TEST_P(RnnLayerTest, OperatorsAndFloatKernelsAgreeWithDouble) {
  const at::Tensor lengths = torch::tensor({4, 1, 6}, torch::kLong);
  const auto gradient_in = [&](at::ScalarType type) {
    RnnLayer layer = make_layer(cell(), reverse(), type);
    const RnnResult result = layer(inputs_of(6, 3).to(type), lengths);
    mixed(result.outputs.to(at::kDouble), result.last.hidden.to(at::kDouble),
          result.last.cell.defined() ? result.last.cell.to(at::kDouble) : at::Tensor())
        .backward();
    return std::make_pair(result.outputs.detach(), layer->parameters()[0].grad());
  };
  const auto [outputs, gradient] = gradient_in(at::kDouble);
  const auto [float_outputs, float_gradient] = gradient_in(at::kFloat);
  expect_close(float_outputs, outputs, 1e-5);
  expect_close(float_gradient, gradient, 1e-4);
  // A type without kernels of ours.
  const auto [half_outputs, half_gradient] = gradient_in(at::kBFloat16);
  expect_close(half_outputs, outputs, 0.03);
  expect_close(half_gradient, gradient, 0.1);
}

TEST(RnnLayerOptionsTest, RefusesWhatCannotBe) {
  EXPECT_THROW(RnnLayer(RnnLayerOptions{.input = 0}), UsageError);
  EXPECT_THROW(RnnLayer(RnnLayerOptions{.hidden = 0}), UsageError);
  EXPECT_EQ(cell_of("lstm"), Cell::lstm);
  EXPECT_EQ(cell_of("gru"), Cell::gru);
  EXPECT_THROW(cell_of("rnn"), UsageError);
}

}  // namespace rnn_layer_test
}  // namespace pagoda
