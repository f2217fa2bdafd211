#pragma once

namespace pagoda {

/// The type in which fp32 gradients travel between processes, and between cards that sum among
/// themselves; double gradients are never narrowed. With 16 bits, processes keep what rounding
/// loses and add it to the next step's gradient (error feedback), so that it is delayed rather than
/// lost; cards do not.
enum class WireType {
  fp32,  ///< as they are
  bf16,
  fp16,  ///< between processes only
};

}  // namespace pagoda
