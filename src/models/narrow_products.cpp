#include "models/narrow_products.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

namespace pagoda {

at::ScalarType product_type(const at::Tensor& tensor) {
  const c10::DeviceType device = tensor.device().type();
  if (tensor.scalar_type() == at::kDouble || !at::autocast::is_autocast_enabled(device))
    return tensor.scalar_type();
  return at::autocast::get_autocast_dtype(device);
}

at::Tensor widened_by_autocast(const at::Tensor& tensor) {
  const bool narrow = tensor.defined() &&
                      (tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16);
  return narrow && at::autocast::is_autocast_enabled(tensor.device().type()) ? tensor.to(at::kFloat)
                                                                             : tensor;
}

at::Tensor affine(const at::Tensor& bias, const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) return at::addmm(bias, a, b);
  return product(a, b).add_(bias);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  return at::mm(a.to(b.scalar_type()), b).to(a.scalar_type());
}

void add_product(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) {
    sum.addmm_(a, b);
  } else {
    sum.add_(at::mm(a.to(b.scalar_type()), b));
  }
}

}  // namespace pagoda
