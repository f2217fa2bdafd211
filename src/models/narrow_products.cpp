#include "models/narrow_products.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include "models/fast_product.h"

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
  if (a.scalar_type() != b.scalar_type()) return product(a, b).add_(bias);
  const at::Tensor sum = bias.expand({a.size(0), b.size(1)}).clone(at::MemoryFormat::Contiguous);
  multiply_add(sum, a, b);
  return sum;
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type())
    return at::mm(a.to(b.scalar_type()), b).to(a.scalar_type());
  const at::Tensor result = at::empty({a.size(0), b.size(1)}, a.options());
  multiply_into(result, a, b);
  return result;
}

void add_product(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) {
    multiply_add(sum, a, b);
  } else {
    sum.add_(at::mm(a.to(b.scalar_type()), b));
  }
}

}  // namespace pagoda
