#pragma once

#include <string>
#include <vector>

namespace pagoda {

/// Registers the kernels of the simulated cards; those that `missing` names ("aten::cumsum.out")
/// are taken away again. Fails: UsageError for a name that is no kernel of the cards.
void register_sim_kernels(const std::vector<std::string>& missing);

}  // namespace pagoda
