#pragma once

namespace pagoda {

/// Makes autocast work on simulated cards as it does on CUDA cards: the same operators in 16 bits, the
/// same in fp32. Once for the process.
void register_sim_autocast();

}  // namespace pagoda
