#include "bench/equal_layers.h"

#include <string>

#include <ATen/ops/randn.h>
#include <torch/nn/functional/loss.h>

namespace pagoda::app {

EqualLayersImpl::EqualLayersImpl(int layers, std::int64_t width) {
  for (int i = 0; i < layers; ++i)
    linear_.push_back(
        register_module("layer" + std::to_string(i), torch::nn::Linear(width, width)));
}

at::Tensor EqualLayersImpl::forward(at::Tensor x) {
  for (auto& linear : linear_) x = linear(x).relu();
  return x;
}

std::vector<Layer> EqualLayersImpl::layers() {
  std::vector<Layer> all;
  for (std::size_t i = 0; i < linear_.size(); ++i) {
    all.push_back(layer("layer" + std::to_string(i), tensors_of(*linear_[i]),
                        [this, i](const at::Tensor& x) { return linear_[i](x).relu(); }));
  }
  return all;
}

Batch random_vectors(std::int64_t samples, std::int64_t width) {
  return {.input = at::randn({samples, width}), .target = at::randn({samples, width})};
}

at::Tensor squared_error(const at::Tensor& outputs, const Batch& batch) {
  return torch::nn::functional::mse_loss(outputs, batch.target);
}

}  // namespace pagoda::app
