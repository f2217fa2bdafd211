#pragma once

#include <pagoda/optim/updater.h>

#include <memory>
#include <vector>

namespace pagoda {

/// The built-in optimizers: one pass over memory that reads the towers' gradients and writes
/// parameter, optimizer state and moving average.
///
/// Parameters must be float or double tensors in CPU memory whose elements lie without gaps.
/// Fails: UsageError on construction for a parameter of another type, or an option out of range.
/// Example: `auto updater = make_fused_updater(table.trainable, Adam{}, {.l2 = 1e-4});`
std::unique_ptr<Updater> make_fused_updater(const std::vector<NamedTensor>& parameters,
                                            const OptimizerOptions& optimizer,
                                            const UpdateOptions& options);

}  // namespace pagoda
