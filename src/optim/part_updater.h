#pragma once

#include <pagoda/optim/updater.h>

#include <memory>
#include <vector>

namespace pagoda {

/// Part `number` of `count` of all elements, cut where a BlockPlan cuts them.
struct UpdatePart {
  int number = 0;
  int count = 1;
};

/// A built-in optimizer for one part of the parameters' elements: it changes those only, and keeps
/// state and moving average for those only, on the device that the parameters are on.
///
/// Gradients are read in CPU memory, wherever the parameters are; in `Updater::state` the elements
/// outside of the part are zero.
class PartUpdater : public Updater {
 public:
  /// Writes its part into whole tensors such as `state()` gives.
  virtual void write_to(const UpdaterState& whole) const = 0;
};

/// On the CPU one fused pass over memory; on other devices a series of LibTorch's operators for
/// each parameter, with the same results but for rounding. What it keeps is allocated by the
/// calling thread.
///
/// Parameters must be float or double tensors of one device whose elements lie without gaps.
/// Fails: UsageError for a parameter of another type, or an option out of range.
std::unique_ptr<PartUpdater> make_part_updater(const std::vector<NamedTensor>& parameters,
                                               const OptimizerOptions& optimizer,
                                               const UpdateOptions& options, UpdatePart part);

/// How several updaters make one update.
enum class Joined {
  copies,  ///< each changes all elements of a copy of its own; they stay equal
  parts,   ///< each changes its part
};

/// One updater out of several, on as many devices; share s is the work of updater s, and there must
/// be as many shares as updaters.
std::unique_ptr<Updater> join_updaters(std::vector<std::unique_ptr<PartUpdater>> updaters,
                                       Joined joined);

}  // namespace pagoda
