#include "models/packed_linear.h"

#include <optional>

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/constant_pad_nd.h>

#include "models/fast_product.h"

namespace pagoda {
namespace {

constexpr std::int64_t kLeastRows = 1024;  // of a weight; smaller ones are copied in no time
constexpr std::int64_t kRowBlock = 16;     // oneDNN compiles a kernel for each number of these

using Reorder = at::Tensor(const at::Tensor&, std::optional<std::int64_t>);
using Pointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                             std::string_view, c10::List<std::optional<at::Scalar>>,
                             std::optional<std::string_view>);

/// LibTorch's operators, which are there where it was built with oneDNN.
struct Operators {
  std::optional<c10::OperatorHandle> reorder =
      c10::Dispatcher::singleton().findSchema({"mkldnn::_reorder_linear_weight", ""});
  std::optional<c10::OperatorHandle> product =
      c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
};

const Operators& operators() {
  static const Operators found;
  return found;
}

}  // namespace

std::unique_ptr<PackedLinear> PackedLinear::make(const at::Tensor& weight, const at::Tensor& bias) {
  const bool fits = weight.is_cpu() && weight.scalar_type() == at::kFloat &&
                    weight.is_contiguous() && weight.size(0) >= kLeastRows && weight.size(1) > 0;
  if (!fits || !prefers_onednn() || !operators().reorder || !operators().product) return nullptr;
  return std::unique_ptr<PackedLinear>(new PackedLinear(weight, bias));
}

PackedLinear::PackedLinear(const at::Tensor& weight, const at::Tensor& bias)
    : weight_(operators().reorder->typed<Reorder>().call(weight.detach(), kRowBlock)),
      bias_(bias.detach()) {}

at::Tensor PackedLinear::operator()(const at::Tensor& x) const {
  const std::int64_t rows = x.size(0);
  const std::int64_t more = (kRowBlock - rows % kRowBlock) % kRowBlock;
  const at::Tensor padded = more == 0 ? x : at::constant_pad_nd(x, {0, 0, 0, more});
  const at::Tensor result = operators().product->typed<Pointwise>().call(
      padded, weight_, bias_, "none", c10::List<std::optional<at::Scalar>>(), std::nullopt);
  return result.narrow(0, 0, rows);
}

}  // namespace pagoda
