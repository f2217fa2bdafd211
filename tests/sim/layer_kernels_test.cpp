#include "sim/layer_kernels.h"

#include <pagoda/base/error.h>

#include <functional>

#include <ATen/Context.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace layer_kernels_test {

using testing::on_sim;

/// Output, and gradients of input and parameters, of a layer on a device.
template <class Layer>
std::vector<at::Tensor> results_on(
    at::Device device, Layer layer, const at::Tensor& input,
    const std::function<at::Tensor(Layer&, const at::Tensor&)>& run) {
  layer->to(device);
  layer->zero_grad();
  const at::Tensor x = input.detach().to(device).requires_grad_();
  at::Generator generator = at::globalContext().defaultGenerator(device);
  generator.set_current_seed(11);
  const at::Tensor output = run(layer, x);
  (output * output).sum().backward();
  std::vector<at::Tensor> results = {output.detach().cpu(), x.grad().cpu()};
  for (const auto& parameter : layer->parameters()) results.push_back(parameter.grad().cpu());
  return results;
}

template <class Layer>
double largest_difference(Layer layer, const at::Tensor& input,
                          std::function<at::Tensor(Layer&, const at::Tensor&)> run) {
  layer->to(at::kDouble);
  const auto card = results_on<Layer>(on_sim(1).device(), layer, input, run);
  const auto cpu = results_on<Layer>(at::kCPU, layer, input, run);
  double largest = 0;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    largest = std::max(largest, (card[i] - cpu[i]).abs().max().template item<double>());
  }
  return largest;
}

at::Tensor waves(at::IntArrayRef shape) {
  return at::arange(c10::multiply_integers(shape), at::kDouble).reshape(shape).sin();
}

TEST(LayerKernelsTest, DropoutHasTheBitsOfTheCpu) {
  for (const double p : {0.1, 0.3, 0.5, 0.9, 1.0, 0.0}) {
    EXPECT_EQ(largest_difference<torch::nn::Dropout>(
                  torch::nn::Dropout(p), waves({20, 30}),
                  [](auto& layer, const at::Tensor& x) { return layer(x); }),
              0)
        << p;
  }
  EXPECT_ANY_THROW(at::dropout(at::ones({2}, on_sim(0)), 1.5, true));
  const at::Tensor x = at::ones({2}, on_sim(0));
  EXPECT_TRUE(at::dropout(x, 0.5, false).is_same(x));
}

TEST(LayerKernelsTest, LstmAndGruAreThoseOfTheCpu) {
  const at::Tensor input = waves({5, 2, 3});
  EXPECT_LT(largest_difference<torch::nn::LSTM>(
                torch::nn::LSTM(torch::nn::LSTMOptions(3, 4).num_layers(2).dropout(0.3)), input,
                [](auto& layer, const at::Tensor& x) { return std::get<0>(layer(x)); }),
            1e-14);
  EXPECT_LT(largest_difference<torch::nn::GRU>(
                torch::nn::GRU(torch::nn::GRUOptions(3, 4).bidirectional(true)), input,
                [](auto& layer, const at::Tensor& x) { return std::get<0>(layer(x)); }),
            1e-14);
  EXPECT_LT(largest_difference<torch::nn::LSTMCell>(
                torch::nn::LSTMCell(torch::nn::LSTMCellOptions(3, 4).bias(false)), waves({2, 3}),
                [](auto& layer, const at::Tensor& x) { return std::get<0>(layer(x)); }),
            1e-14);
}

// Backward sums on one core on a card and on several here.
TEST(LayerKernelsTest, OtherLayersTrainToo) {
  EXPECT_LT(largest_difference<torch::nn::Conv2d>(
                torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 3, 3)), waves({2, 2, 6, 5}),
                [](auto& layer, const at::Tensor& x) { return torch::max_pool2d(layer(x), 2); }),
            1e-14);
  EXPECT_LT(largest_difference<torch::nn::BatchNorm1d>(
                torch::nn::BatchNorm1d(4), waves({7, 4}),
                [](auto& layer, const at::Tensor& x) { return layer(x); }),
            1e-14);
  EXPECT_LT(largest_difference<torch::nn::LayerNorm>(
                torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})), waves({7, 4}),
                [](auto& layer, const at::Tensor& x) { return torch::gelu(layer(x)); }),
            1e-14);
}

}  // namespace layer_kernels_test
}  // namespace pagoda
