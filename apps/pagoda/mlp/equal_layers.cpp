#include "mlp/equal_layers.h"

#include <string>

#include <ATen/ops/dropout.h>
#include <ATen/ops/randn.h>
#include <torch/nn/functional/loss.h>

namespace pagoda::app {

EqualLayersImpl::EqualLayersImpl(int layers, std::int64_t width, double dropout)
    : dropout_(dropout) {
  for (int i = 0; i < layers; ++i)
    linear_.push_back(
        register_module("layer" + std::to_string(i), torch::nn::Linear(width, width)));
}

at::Tensor EqualLayersImpl::pass(std::size_t layer, const at::Tensor& x) {
  const at::Tensor y = linear_[layer](x).relu();
  return dropout_ > 0 ? at::dropout(y, dropout_, is_training()) : y;
}

at::Tensor EqualLayersImpl::forward(at::Tensor x) {
  for (std::size_t i = 0; i < linear_.size(); ++i) x = pass(i, x);
  return x;
}

std::vector<Layer> EqualLayersImpl::layers() {
  std::vector<Layer> all;
  for (std::size_t i = 0; i < linear_.size(); ++i) {
    all.push_back(layer("layer" + std::to_string(i), tensors_of(*linear_[i]),
                        [this, i](const at::Tensor& x) { return pass(i, x); }));
  }
  return all;
}

Batch random_vectors(std::int64_t samples, std::int64_t width,
                     const std::optional<at::Generator>& random) {
  return {.input = at::randn({samples, width}, random),
          .target = at::randn({samples, width}, random)};
}

at::Tensor squared_error(const at::Tensor& outputs, const Batch& batch) {
  return torch::nn::functional::mse_loss(outputs, batch.target);
}

}  // namespace pagoda::app
