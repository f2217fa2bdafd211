#include <pagoda/base/error.h>
#include <pagoda/tower/precision.h>

#include <algorithm>
#include <initializer_list>

#include <ATen/Context.h>
#include <ATen/cpu/Utils.h>

namespace pagoda {
namespace {

bool cpu_has_any(std::initializer_list<const char*> features) {
  static const auto capabilities = at::cpu::get_cpu_capabilities();
  return std::any_of(features.begin(), features.end(), [](const char* feature) {
    const auto found = capabilities.find(feature);
    return found != capabilities.end() && found->second.isBool() && found->second.toBool();
  });
}

}  // namespace

const char* precision_name(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return "bf16";
    case Precision::fp16:
      return "fp16";
    default:
      return "fp32";
  }
}

Precision precision_of(std::string_view name) {
  for (const Precision one : {Precision::fp32, Precision::bf16, Precision::fp16}) {
    if (name == precision_name(one)) return one;
  }
  throw UsageError("there is no precision \"" + std::string(name) + "\"; take fp32, bf16 or fp16");
}

PrecisionScope::PrecisionScope(Precision precision, const Device& device) {
  if (precision == Precision::fp32) return;
  autocast_.emplace(
      device.torch_device().type(),
      Autocast{.cached = false, .type = precision == Precision::bf16 ? at::kBFloat16 : at::kHalf});
}

bool is_fast(Precision precision, const Device& device) {
  if (precision == Precision::fp32 || device.kind == DeviceKind::cuda) return true;
  if (precision == Precision::bf16) return cpu_has_any({"avx512_bf16", "amx_bf16", "bf16"});
  return cpu_has_any({"avx512_fp16", "amx_fp16", "fp16_arith"});
}

std::string slow_precision_text(Precision precision, const std::vector<Device>& devices) {
  const auto slow = std::find_if(devices.begin(), devices.end(),
                                 [&](const Device& device) { return !is_fast(precision, device); });
  if (slow == devices.end()) return {};
  const char* needed =
      precision == Precision::bf16 ? "AVX512-BF16 or AMX" : "AVX512-FP16 or AMX-FP16";
  return "the CPU, on which " + slow->label() + " computes, has no fast products in " +
         precision_name(precision) + " (no " + needed +
         "): they can be a hundred times slower than in fp32";
}

void set_matmul_precision(MatmulPrecision precision) {
  at::globalContext().setFloat32MatmulPrecision(precision == MatmulPrecision::highest ? "highest"
                                                : precision == MatmulPrecision::high  ? "high"
                                                                                      : "medium");
}

}  // namespace pagoda
