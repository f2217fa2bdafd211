#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// A number that a run has logged: a line of its `metrics.tsv`.
struct RunMetric {
  std::int64_t step = 0;  ///< step that it belongs to
  std::string name = {};  ///< "train/loss", "validation/accuracy"
  double value = 0;       ///< may be NaN or infinite

  /// The line, without its line break: step, name and value, separated by tabs.
  std::string line() const;
};

/// The metrics in a text of such lines. Incomplete lines and zero bytes, which a power cut may have
/// left, are skipped.
std::vector<RunMetric> parse_metrics(const std::string& text);

/// The metrics in a run's directory, in the order of its steps; none if it has no such file yet.
/// Fails: IoError when the file cannot be read.
std::vector<RunMetric> read_run_metrics(const std::filesystem::path& run);

}  // namespace pagoda
