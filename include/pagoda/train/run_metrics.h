#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// A number that a run has logged: a line of its `metrics.tsv`.
struct RunMetric {
  std::int64_t step = 0;  ///< when
  std::string name = {};  ///< "train/loss", "validation/accuracy"
  double value = 0;       ///< NaN and infinities too

  /// The line, without its end: step, name and value with tabs between them.
  std::string line() const;
};

/// The whole lines of a text of such lines. A power cut may have left half a line, or zeros, which
/// are passed over.
std::vector<RunMetric> parse_metrics(const std::string& text);

/// Those of a run's directory, in the order of its steps; none where it has no such file yet.
/// Fails: IoError when the file cannot be read.
std::vector<RunMetric> read_run_metrics(const std::filesystem::path& run);

}  // namespace pagoda
