#include "sim/sim_autocast.h"

#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace pagoda {
namespace {

/// The lists of operators are those that LibTorch has for all cards.
void implement_casts(torch::Library& m) {  // the lists' name for it
  using at::IntArrayRef;
  using at::Scalar;
  using at::ScalarType;
  using at::Tensor;
#define PAGODA_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define PAGODA_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define PAGODA_FP32_TYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define PAGODA_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(PAGODA_LOWER)
  AT_FORALL_FP32(PAGODA_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(PAGODA_FP32_TYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(PAGODA_PROMOTE)
#undef PAGODA_LOWER
#undef PAGODA_FP32
#undef PAGODA_FP32_TYPE
#undef PAGODA_PROMOTE
}

}  // namespace

void register_sim_autocast() {
  constexpr auto kKey = c10::DispatchKey::AutocastPrivateUse1;
  // For as long as the process lives: LibTorch may use them until its own end.
  static auto& any = *new torch::Library(torch::Library::IMPL, "_", kKey, __FILE__, __LINE__);
  static auto& aten = *new torch::Library(torch::Library::IMPL, "aten", kKey, __FILE__, __LINE__);
  static const bool once = [] {
    any.fallback(torch::CppFunction::makeFallthrough());
    implement_casts(aten);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace pagoda
