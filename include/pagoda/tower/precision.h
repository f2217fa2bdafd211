#pragma once

#include <pagoda/base/autocast.h>
#include <pagoda/device/device.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// What a model computes in. Parameters, gradients, their sums and the optimizer state are always
/// fp32 (or double); with 16 bits, LibTorch's autocast hands 16-bit copies of the parameters to
/// matrix products and convolutions, and leaves sums, softmax and losses in fp32.
enum class Precision {
  fp32,  ///< as the model is written; double stays double
  bf16,
  fp16,  ///< has a small range: a step scales the loss (see LossScale)
};

/// "fp32", "bf16", "fp16".
const char* precision_name(Precision precision);

/// The precision with this name. Fails: UsageError for any other name.
Precision precision_of(std::string_view name);

/// While it lives, this thread computes in this precision on devices of this kind. It belongs
/// around forward and loss, not around backward, which uses the types that forward left. fp32
/// changes nothing.
///
/// A parameter that is used several times is cast each time: LibTorch's cache of casts is shared by
/// all threads, so the other towers' timing would decide which uses share a copy, and with it the
/// last bits of a gradient.
///
/// Threads: construct and destroy it in one thread. Steps and evaluations put it around the user's
/// functions; your own work in TowerGroup::run has to do so itself.
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

/// Whether the device multiplies matrices in this precision about as fast as in fp32, or faster.
/// CUDA cards do; CPUs, and simulated cards, which compute on them, need instructions for it (bf16:
/// AVX512-BF16 or AMX; fp16: AVX512-FP16 or AMX-FP16; their equivalents on Arm), without which
/// 16-bit products are tens to hundreds of times slower.
bool is_fast(Precision precision, const Device& device);

/// A sentence for the log if the precision is slow on one of the devices; otherwise empty.
std::string slow_precision_text(Precision precision, const std::vector<Device>& devices);

/// How precisely cards multiply fp32 matrices: see LibTorch's set_float32_matmul_precision.
enum class MatmulPrecision {
  highest,  ///< fp32
  high,     ///< TF32, or each number as the sum of two bf16 numbers
  medium,   ///< bf16
};

/// Sets it for the whole process.
void set_matmul_precision(MatmulPrecision precision);

}  // namespace pagoda
