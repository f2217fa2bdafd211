#pragma once

#include <pagoda/run/picture.h>
#include <pagoda/train/evaluate.h>

#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// What a validation found, and lines and pictures, by name, that a person wants to see.
struct Validation {
  Evaluation evaluation;                ///< the loss and the metrics
  std::vector<std::string> notes = {};  ///< lines for the log
  /// Pictures for TensorBoard, by name.
  std::vector<std::pair<std::string, Picture>> pictures = {};
};

/// Which values of a metric are the better ones.
enum class Better { more, less };

}  // namespace pagoda
