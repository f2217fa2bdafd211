#pragma once

#include <pagoda/base/autocast.h>
#include <pagoda/device/device.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// What a model computes in. Parameters, gradients, their sums and the optimizer's state are fp32
/// (or double) in any case; with 16 bits LibTorch's autocast hands copies of the parameters to matrix
/// products and convolutions, and leaves sums, softmax and losses in fp32.
enum class Precision {
  fp32,  ///< as the model is written; double stays double
  bf16,
  fp16,  ///< its range is small: a step scales the loss (see LossScale)
};

/// "fp32", "bf16", "fp16".
const char* precision_name(Precision precision);

/// Fails: UsageError for another name.
Precision precision_of(std::string_view name);

/// While it lives, this thread computes in that precision on devices of this kind: around forward and
/// loss, not around backward, which takes the types that forward left. fp32 changes nothing.
///
/// A parameter that is used several times is cast each time: LibTorch's cache of casts is one for all
/// threads, so that which uses share a copy, and with it the last bits of a gradient, would depend on
/// the other towers' timing.
///
/// Threads: construct and destroy it in one thread. Steps and evaluations have it around the user's
/// functions; work of one's own in TowerGroup::run needs it.
///
/// Example:
///     const PrecisionScope scope(towers.options().precision, towers.device(job.tower));
///     const at::Tensor logits = model(batch.input);
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, const Device& device);

 private:
  std::optional<AutocastScope> autocast_;
};

/// Whether the device multiplies matrices in that precision at least about as fast as in fp32: cards
/// do; CPUs, and with them simulated cards, need instructions for it (bf16: AVX512-BF16 or AMX; fp16:
/// AVX512-FP16 or AMX), without which 16 bits are some ten or hundred times slower.
bool is_fast(Precision precision, const Device& device);

/// A sentence for the log where it is not on one of the devices; otherwise empty.
std::string slow_precision_text(Precision precision, const std::vector<Device>& devices);

/// How exact cards multiply fp32 matrices: see LibTorch's set_float32_matmul_precision.
enum class MatmulPrecision {
  highest,  ///< fp32
  high,     ///< TF32, or a sum of two bf16 numbers
  medium,   ///< bf16
};

/// Sets it for the whole process.
void set_matmul_precision(MatmulPrecision precision);

}  // namespace pagoda
