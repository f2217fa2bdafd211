#pragma once

namespace pagoda {

/// What gradients travel in between processes, and between cards that sum among themselves. With 16
/// bits, processes keep what rounding loses and add it to the next step's gradient (error feedback), so
/// that it comes later and is not lost; cards do not.
enum class WireType {
  fp32,  ///< as they are; double ones in double
  bf16,
  fp16,  ///< between processes only
};

}  // namespace pagoda
