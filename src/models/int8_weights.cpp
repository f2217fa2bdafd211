#include <pagoda/base/error.h>
#include <pagoda/models/int8_weights.h>

#include <string>

#include <ATen/core/grad_mode.h>

#include "models/int8_linear.h"

namespace pagoda {
namespace {

constexpr double kGreatest = 127;

/// [rows, 1, 1, …], for a product with a tensor of that many dimensions.
at::Tensor beside(const at::Tensor& scales, std::int64_t dimensions) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(dimensions), 1);
  sizes.front() = scales.size(0);
  return scales.view(sizes);
}

}  // namespace

at::Tensor Int8Matrix::widened() const {
  return values.to(scales.scalar_type()) * beside(scales, values.dim());
}

Int8Matrix int8_rows(const at::Tensor& matrix) {
  if (matrix.dim() < 2 || !matrix.is_floating_point()) {
    throw UsageError("8 bits are for rows of floating-point numbers, not for " +
                     std::to_string(matrix.dim()) + " dimensions of " +
                     c10::toString(matrix.scalar_type()));
  }
  const at::NoGradGuard no_grad;
  const at::Tensor full = matrix.detach().to(at::kFloat);
  const at::Tensor greatest =
      full.numel() == 0 ? full.new_zeros({full.size(0)}) : full.abs().flatten(1).amax(1);
  const at::Tensor scales = greatest / kGreatest;
  const at::Tensor steps = full / beside(scales, full.dim());
  return {steps.nan_to_num(0, kGreatest, -kGreatest)
              .round_()
              .clamp_(-kGreatest, kGreatest)
              .to(at::kChar),
          scales};
}

std::shared_ptr<const Int8Linear> Int8Products::of(const at::Tensor& weight,
                                                   const at::Tensor& bias) {
  auto& made = made_[{weight.const_data_ptr(), weight.numel()}];
  if (made == nullptr) made = std::make_shared<Int8Linear>(weight, bias);
  return made;
}

}  // namespace pagoda
