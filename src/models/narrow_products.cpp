#include "models/narrow_products.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include "models/fast_product.h"

namespace pagoda {
namespace {

// oneDNN compiles a kernel for each new shape, which takes longer than a product. Numbers of rows and
// tokens differ from step to step, so they are rounded up, and few shapes recur.
// What is divisible by kUsualSize is taken for one of the model's sizes, which stay.
constexpr std::int64_t kUsualSize = 32;
constexpr std::int64_t kRoundedTo = 128;

std::int64_t recurring(std::int64_t size) {
  const std::int64_t unit = size < kRoundedTo ? kUsualSize : kRoundedTo;
  return size % kUsualSize == 0 ? size : (size + unit - 1) / unit * unit;
}

/// The matrix in this type, with zeros after its last row and column up to sizes that recur.
at::Tensor rounded_up(const at::Tensor& matrix, at::ScalarType type) {
  const std::int64_t rows = recurring(matrix.size(0));
  const std::int64_t columns = recurring(matrix.size(1));
  if (rows == matrix.size(0) && columns == matrix.size(1)) return matrix.to(type);
  if (matrix.stride(0) == 1 && matrix.stride(1) != 1) return rounded_up(matrix.t(), type).t();
  const at::Tensor larger = at::empty({rows, columns}, matrix.options().dtype(type));
  larger.narrow(0, 0, matrix.size(0)).narrow(1, 0, matrix.size(1)).copy_(matrix);
  larger.narrow(0, matrix.size(0), rows - matrix.size(0)).zero_();
  larger.narrow(1, matrix.size(1), columns - matrix.size(1)).zero_();
  return larger;
}

}  // namespace

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

at::Tensor narrow_product(const at::Tensor& a, const at::Tensor& b) {
  if (!a.is_cpu()) return at::mm(a.to(b.scalar_type()), b);
  const at::Tensor product = at::mm(rounded_up(a, b.scalar_type()), rounded_up(b, b.scalar_type()));
  return product.narrow(0, 0, a.size(0)).narrow(1, 0, b.size(1));
}

at::Tensor affine(const at::Tensor& bias, const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type()) return product(a, b).add_(bias);
  const at::Tensor sum = bias.expand({a.size(0), b.size(1)}).clone(at::MemoryFormat::Contiguous);
  multiply_add(sum, a, b);
  return sum;
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type())
    return narrow_product(a, b).to(a.scalar_type(), /*non_blocking=*/false, /*copy=*/false,
                                   at::MemoryFormat::Contiguous);
  const at::Tensor result = at::empty({a.size(0), b.size(1)}, a.options());
  multiply_into(result, a, b);
  return result;
}

void add_product(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) {
    multiply_add(sum, a, b);
  } else {
    sum.add_(narrow_product(a, b));
  }
}

}  // namespace pagoda
