#pragma once

#include <pagoda/data/batch.h>
#include <pagoda/params/layer.h>

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Generator.h>
#include <torch/nn/modules/linear.h>

namespace pagoda::app {

/// A model of any size whose layers all cost the same, so that stages can be equal.
class EqualLayersImpl : public torch::nn::Module {
 public:
  /// `dropout` is the part of each layer's output that is dropped in training.
  EqualLayersImpl(int layers, std::int64_t width, double dropout = 0);

  at::Tensor forward(at::Tensor x);
  std::vector<Layer> layers();

 private:
  at::Tensor pass(std::size_t layer, const at::Tensor& x);

  const double dropout_;
  std::vector<torch::nn::Linear> linear_;
};
TORCH_MODULE(EqualLayers);

/// Made-up samples for it, drawn from a stream, or else from LibTorch's own.
Batch random_vectors(std::int64_t samples, std::int64_t width,
                     const std::optional<at::Generator>& random = std::nullopt);
/// Its loss on them.
at::Tensor squared_error(const at::Tensor& outputs, const Batch& batch);

}  // namespace pagoda::app
