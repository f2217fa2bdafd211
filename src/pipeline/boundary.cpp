#include "pipeline/boundary.h"

#include <torch/csrc/autograd/autograd.h>

namespace pagoda {

Parcel parcel_of(const Tensors& outputs) {
  Parcel parcel;
  for (const auto& output : outputs) {
    parcel.tensors.push_back(output.detach());
    parcel.wants_gradient.push_back(output.requires_grad());
  }
  return parcel;
}

Parcel parcel_of(const Tensors& outputs, bool any) {
  Parcel parcel = parcel_of(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    parcel.wants_gradient[i] = any && outputs[i].is_floating_point();
  return parcel;
}

Tensors unpack(const Parcel& parcel, c10::Device device) {
  Tensors leaves;
  for (std::size_t i = 0; i < parcel.tensors.size(); ++i) {
    const at::Tensor& tensor = parcel.tensors[i];
    const at::Tensor here = tensor.to(device, tensor.scalar_type(), /*non_blocking=*/true);
    leaves.push_back(here.detach().set_requires_grad(parcel.wants_gradient[i] != 0));
  }
  return leaves;
}

void backward_from(const Tensors& outputs, const Tensors& gradients) {
  Tensors roots;
  Tensors of_roots;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!gradients[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    of_roots.push_back(gradients[i]);
  }
  if (!roots.empty()) torch::autograd::backward(roots, of_roots);
}

Tensors take_gradients(const Tensors& leaves) {
  Tensors gradients;
  for (const auto& leaf : leaves) {
    at::Tensor gradient;
    if (leaf.requires_grad()) {
      gradient = std::move(leaf.mutable_grad());
      leaf.mutable_grad().reset();
    }
    gradients.push_back(gradient.defined() ? gradient.detach() : gradient);
  }
  return gradients;
}

}  // namespace pagoda
