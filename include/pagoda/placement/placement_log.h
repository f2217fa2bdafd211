#pragma once

#include <memory>
#include <string>
#include <vector>

namespace pagoda {

/// An operator that ran, and where.
struct PlacedOperator {
  std::string where;                 ///< "tower 0", "backward" (LibTorch's threads), otherwise ""
  std::string name;                  ///< as LibTorch names it: "aten::mm"
  std::vector<std::string> inputs;   ///< devices of its input tensors: "sim:0", "cpu"
  std::vector<std::string> outputs;  ///< devices of its output tensors

  /// "tower 0: aten::mm: sim:0, sim:0 -> sim:0".
  std::string text() const;

  bool operator==(const PlacedOperator&) const = default;
};

/// Records, while it lives, every operator that any thread of the process runs, with the devices of
/// its tensors, as TensorFlow's log_device_placement does. Operators that run inside another
/// operator are left out. Without a log, nothing is measured.
///
/// Threads: construct and destroy it in one thread, while no operator runs; one log at a time.
/// Fails: UsageError if there is another log.
///
/// Example:
///     PlacementLog log;
///     step.run(feeds, loss);
///     for (const auto& op : log.operators()) std::cerr << op.text() << "\n";
class PlacementLog {
 public:
  PlacementLog();
  ~PlacementLog();
  PlacementLog(const PlacementLog&) = delete;
  PlacementLog& operator=(const PlacementLog&) = delete;

  /// Each operator once for every place and combination of devices, in the order of their first
  /// runs.
  std::vector<PlacedOperator> operators() const;

 private:
  struct Notes;
  std::unique_ptr<Notes> notes_;
};

}  // namespace pagoda
