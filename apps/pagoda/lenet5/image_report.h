#pragma once

#include <string>
#include <vector>

#include "lenet5/image_test.h"
#include "model/model_training.h"

namespace pagoda::app {

/// Accuracy, also by class, and what the images of each class were taken for. `classes` are the
/// names of the labels.
TestReport report_of(const ImageTest& test, const std::vector<std::string>& classes);

}  // namespace pagoda::app
