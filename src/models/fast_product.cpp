#include "models/fast_product.h"

#include <ATen/Context.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

namespace at::native {

// LibTorch has it in its library, but in no header: result = beta · result + alpha · a · b. Weak, so that
// it is null where a build of LibTorch does not have just this function.
__attribute__((weak)) void mkldnn_matmul(const at::Tensor& a, const at::Tensor& b,
                                         const at::Tensor& result, float beta, float alpha);

}  // namespace at::native

namespace pagoda {
namespace {

constexpr std::int64_t kLeastProducts = 1 << 20;  // fewer do not pay for a call of oneDNN

bool prefers_onednn() {
#if defined(__x86_64__)
  static const bool is_other =
      (__builtin_cpu_init(), !__builtin_cpu_is("intel")) && at::native::mkldnn_matmul != nullptr;
  return is_other && at::globalContext().userEnabledMkldnn();
#else
  return false;
#endif
}

}  // namespace

bool is_by_onednn(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  return out.is_cpu() && out.scalar_type() == at::kFloat && a.scalar_type() == at::kFloat &&
         b.scalar_type() == at::kFloat && out.is_contiguous() &&
         a.size(0) * a.size(1) * b.size(1) >= kLeastProducts && prefers_onednn();
}

void multiply_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_by_onednn(out, a, b)) {
    at::native::mkldnn_matmul(a, b, out, /*beta=*/0, /*alpha=*/1);
  } else {
    at::Tensor result = out;
    at::mm_out(result, a, b);
  }
}

void multiply_add(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_by_onednn(out, a, b)) {
    at::native::mkldnn_matmul(a, b, out, /*beta=*/1, /*alpha=*/1);
  } else {
    out.addmm_(a, b);
  }
}

}  // namespace pagoda
