#include "models/int8_linear.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/quantized/PackedParams.h>
#include <ATen/ops/_make_per_channel_quantized_tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include "models/decoding_kernels.h"

namespace pagoda {
namespace {

using Packed = c10::intrusive_ptr<LinearPackedParamsBase>;

/// While it lives, LibTorch packs for fbgemm: its kernels do not depend on the number of rows, of which
/// oneDNN would compile one each. The choice is the process's, so that one thread packs at a time.
class PackForFbgemm {
 public:
  PackForFbgemm() : lock_(mutex()), before_(at::globalContext().qEngine()) {
    const auto& engines = at::Context::supportedQEngines();
    if (std::find(engines.begin(), engines.end(), at::QEngine::FBGEMM) == engines.end())
      throw DeviceError(
          "this LibTorch was built without fbgemm, which multiplies in 8 bits; leave "
          "8 bits out, or take a LibTorch for x86-64");
    at::globalContext().setQEngine(at::QEngine::FBGEMM);
  }
  ~PackForFbgemm() { at::globalContext().setQEngine(before_); }
  PackForFbgemm(const PackForFbgemm&) = delete;
  PackForFbgemm& operator=(const PackForFbgemm&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  const std::lock_guard<std::mutex> lock_;
  const at::QEngine before_;
};

/// LibTorch announces that it will give up tensors with a quantizer; nobody who translates can act on it.
class Quiet : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

Packed packed(const Int8Matrix& matrix) {
  static const auto prepack = c10::Dispatcher::singleton()
                                  .findSchemaOrThrow("quantized::linear_prepack", "")
                                  .typed<Packed(at::Tensor, std::optional<at::Tensor>)>();
  const PackForFbgemm engine;
  Quiet quiet;
  const c10::WarningUtils::WarningHandlerGuard no_warnings(&quiet);
  const at::Tensor zeros = at::zeros({matrix.scales.size(0)}, at::kLong);
  static const std::optional<at::Tensor> no_bias;
  return prepack.call(
      at::_make_per_channel_quantized_tensor(matrix.values, matrix.scales, zeros, /*axis=*/0),
      no_bias);
}

/// The whole numbers that stand for -1 to 1: `zero` - `steps` to `zero` + `steps`.
struct Levels {
  std::int64_t steps;
  std::int64_t zero;
};

/// Without VNNI instructions fbgemm adds two products in 16 bits, which must not overflow.
Levels levels() {
#if defined(__x86_64__)
  static const bool is_wide = (__builtin_cpu_init(), __builtin_cpu_supports("avx512vnni") != 0);
  if (is_wide) return {127, 128};
#endif
  return {63, 64};
}

}  // namespace

Int8Linear::Int8Linear(const at::Tensor& weight, const at::Tensor& bias) : bias_(bias.detach()) {
  if (!weight.is_cpu() || weight.scalar_type() != at::kFloat)
    throw UsageError(
        "weights in 8 bits are for decoding in single precision on CPU devices, not for " +
        std::string(c10::toString(weight.scalar_type())) + " on " + weight.device().str());
  packed_ = packed(int8_rows(weight));
}

at::Tensor Int8Linear::operator()(const at::Tensor& x) const {
  const at::Tensor rows = x.to(at::kFloat).contiguous();
  const std::int64_t width = rows.size(-1);
  const std::int64_t count = width == 0 ? 0 : rows.numel() / width;
  const at::Tensor scaled = at::empty_like(rows);
  std::vector<float> greatest(static_cast<std::size_t>(count));
  scale_rows({.values = rows.const_data_ptr<float>(),
              .rows = count,
              .width = width,
              .scaled = scaled.mutable_data_ptr<float>(),
              .greatest = greatest.data()});
  const auto [steps, zero] = levels();
  at::Tensor result =
      packed_.toCustomClass<LinearPackedParamsBase>()->apply_with_input_q_dq_qweight_dq_output_fp32(
          scaled, 1.0 / static_cast<double>(steps), zero);
  unscale_rows({.values = result.mutable_data_ptr<float>(),
                .rows = count,
                .width = bias_.size(0),
                .factors = greatest.data(),
                .bias = bias_.const_data_ptr<float>()});
  return result;
}

}  // namespace pagoda
