#pragma once

#include <pagoda/data/batch.h>
#include <pagoda/params/layer.h>

#include <cstdint>
#include <vector>

#include <torch/nn/modules/linear.h>

namespace pagoda::app {

/// A model of any size whose layers all cost the same, so that stages can be equal.
class EqualLayersImpl : public torch::nn::Module {
 public:
  EqualLayersImpl(int layers, std::int64_t width);

  at::Tensor forward(at::Tensor x);
  std::vector<Layer> layers();

 private:
  std::vector<torch::nn::Linear> linear_;
};
TORCH_MODULE(EqualLayers);

/// Made-up samples for it, and its loss on them.
Batch random_vectors(std::int64_t samples, std::int64_t width);
at::Tensor squared_error(const at::Tensor& outputs, const Batch& batch);

}  // namespace pagoda::app
