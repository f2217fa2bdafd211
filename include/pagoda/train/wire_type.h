#pragma once

namespace pagoda {

/// What gradients travel in between processes. With 16 bits, what rounding loses is kept and added to
/// the next step's gradient (error feedback), so that it comes later and is not lost.
enum class WireType {
  fp32,  ///< as they are; double ones in double
  bf16,
  fp16,
};

}  // namespace pagoda
