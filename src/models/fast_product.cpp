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

// oneDNN compiles a kernel for each new shape, which takes longer than a product. Numbers of rows and
// tokens differ from step to step, so it gets whole blocks of them and LibTorch's other library the rest:
// few shapes recur. A size that is divisible by kUsual is taken for one of the model's, which stay.
constexpr std::int64_t kBlock = 256;
constexpr std::int64_t kUsual = 32;

std::int64_t recurring_part(std::int64_t size) {
  return size % kUsual == 0 ? size : size - size % kBlock;
}

/// result = beta · result + a · b.
void multiply(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b, float beta) {
  const std::int64_t rows = recurring_part(a.size(0));
  const std::int64_t inner = recurring_part(a.size(1));
  if (rows > 0 && inner > 0) {
    const at::Tensor upper = result.narrow(0, 0, rows);
    const at::Tensor left = a.narrow(0, 0, rows);
    at::native::mkldnn_matmul(left.narrow(1, 0, inner), b.narrow(0, 0, inner), upper, beta,
                              /*alpha=*/1);
    const std::int64_t left_over = a.size(1) - inner;
    if (left_over > 0)
      upper.addmm_(left.narrow(1, inner, left_over), b.narrow(0, inner, left_over));
  }
  const std::int64_t done = inner > 0 ? rows : 0;
  if (done == a.size(0)) return;
  at::Tensor lower = result.narrow(0, done, a.size(0) - done);
  lower.addmm_(a.narrow(0, done, a.size(0) - done), b, beta);
}

}  // namespace

bool prefers_onednn() {
#if defined(__x86_64__)
  static const bool is_other =
      (__builtin_cpu_init(), !__builtin_cpu_is("intel")) && at::native::mkldnn_matmul != nullptr;
  return is_other && at::globalContext().userEnabledMkldnn();
#else
  return false;
#endif
}

bool is_by_onednn(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  return out.is_cpu() && out.scalar_type() == at::kFloat && a.scalar_type() == at::kFloat &&
         b.scalar_type() == at::kFloat && out.is_contiguous() &&
         a.size(0) * a.size(1) * b.size(1) >= kLeastProducts && prefers_onednn();
}

void multiply_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_by_onednn(out, a, b)) {
    multiply(out, a, b, /*beta=*/0);
  } else {
    at::Tensor result = out;
    at::mm_out(result, a, b);
  }
}

void multiply_add(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_by_onednn(out, a, b)) {
    multiply(out, a, b, /*beta=*/1);
  } else {
    out.addmm_(a, b);
  }
}

}  // namespace pagoda
