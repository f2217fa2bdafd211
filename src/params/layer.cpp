#include <pagoda/params/layer.h>

#include <torch/nn/module.h>

namespace pagoda {

Tensors tensors_of(const torch::nn::Module& module) {
  Tensors all = module.parameters();
  for (auto& buffer : module.buffers()) all.push_back(std::move(buffer));
  return all;
}

}  // namespace pagoda
