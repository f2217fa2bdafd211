#pragma once

#include <pagoda/run/picture.h>
#include <pagoda/train/evaluate.h>

#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// The outcome of a validation, with lines and pictures for a person to look at.
struct Validation {
  Evaluation evaluation;                ///< the loss and the metrics
  std::vector<std::string> notes = {};  ///< lines for the log
  /// Pictures for TensorBoard, by name.
  std::vector<std::pair<std::string, Picture>> pictures = {};
};

/// Whether more or less of a metric is better.
enum class Better { more, less };

}  // namespace pagoda
