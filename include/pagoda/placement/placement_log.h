#pragma once

#include <memory>
#include <string>
#include <vector>

namespace pagoda {

/// An operator that ran, and where.
struct PlacedOperator {
  std::string where;                 ///< "tower 0", "backward" for LibTorch's own threads, or ""
  std::string name;                  ///< as LibTorch names it: "aten::mm"
  std::vector<std::string> inputs;   ///< devices of the tensors that went in: "sim:0", "cpu"
  std::vector<std::string> outputs;  ///< and of those that came out

  /// "tower 0: aten::mm: sim:0, sim:0 -> sim:0".
  std::string text() const;

  bool operator==(const PlacedOperator&) const = default;
};

/// Notes, while it lives, every operator that any thread of the process runs, with the devices of
/// its tensors: what TensorFlow's log_device_placement shows. Operators that others use inside are
/// left out. Without a log alive nothing is measured.
///
/// Threads: make and destroy it in one thread, while no operator runs; one log at a time.
/// Fails: UsageError when there is another log.
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

  /// Each operator once for every place and combination of devices, in order of its first run.
  std::vector<PlacedOperator> operators() const;

 private:
  struct Notes;
  std::unique_ptr<Notes> notes_;
};

}  // namespace pagoda
