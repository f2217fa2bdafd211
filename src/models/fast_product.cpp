#include "models/fast_product.h"

#include <vector>

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
// tokens differ from step to step, so it gets whole blocks of them, then a half, a quarter and an eighth
// of a block, and LibTorch's other library the rest: few shapes recur. A size that is divisible by the
// smallest part is taken for one of the model's, which stay.
constexpr std::int64_t kBlock = 256;
constexpr std::int64_t kSmallestPart = 32;

struct Part {
  std::int64_t begin;
  std::int64_t size;
  bool recurs;  // other products have a part of this size, too
};

/// The parts of rows, or of the inner size, of which each one takes so many multiplications.
std::vector<Part> parts_of(std::int64_t size, std::int64_t products) {
  if (size % kSmallestPart == 0) return {{0, size, true}};
  std::vector<Part> parts;
  std::int64_t begin = 0;
  const auto add = [&](std::int64_t count, bool recurs) {
    if (count > 0) parts.push_back({begin, count, recurs});
    begin += count;
  };
  add(size - size % kBlock, true);
  for (std::int64_t part = kBlock / 2; part >= kSmallestPart; part /= 2) {
    if (part * products >= kLeastProducts) add(size & part, true);
  }
  add(size - begin, false);
  return parts;
}

/// result = beta · result + a · b, for a number of rows that recurs.
void multiply_rows(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b, float beta) {
  at::Tensor sum = result;
  for (const Part& inner : parts_of(a.size(1), a.size(0) * b.size(1))) {
    const at::Tensor left = a.narrow(1, inner.begin, inner.size);
    const at::Tensor right = b.narrow(0, inner.begin, inner.size);
    if (inner.recurs) {
      at::native::mkldnn_matmul(left, right, sum, beta, /*alpha=*/1);
    } else {
      sum.addmm_(left, right, beta);
    }
    beta = 1;
  }
}

/// result = beta · result + a · b.
void multiply(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b, float beta) {
  for (const Part& rows : parts_of(a.size(0), a.size(1) * b.size(1))) {
    at::Tensor some = result.narrow(0, rows.begin, rows.size);
    const at::Tensor left = a.narrow(0, rows.begin, rows.size);
    if (rows.recurs) {
      multiply_rows(some, left, b, beta);
    } else {
      some.addmm_(left, b, beta);
    }
  }
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
