#pragma once

#include <pagoda/data/image_records.h>
#include <pagoda/tower/towers.h>
#include <pagoda/world/world.h>

#include <array>
#include <cstdint>

#include "lenet5/lenet5_task.h"

namespace pagoda::app {

/// How a model did on labelled images.
struct ImageTest {
  double loss = 0;
  /// Images by label and by the class they were taken for.
  std::array<std::array<std::int64_t, kImageClasses>, kImageClasses> confusion = {};

  std::int64_t total() const;
  std::int64_t class_total(int label) const;
  double accuracy() const;                 ///< nan without images
  double class_accuracy(int label) const;  ///< nan without images of the class
};

/// Tests the towers' model on all towers. With a world all processes call it together: they divide the
/// images, and each gets the result of all.
/// Fails: TowerError when something throws on a tower; WorldError.
ImageTest test_images(Towers<LeNet5>& towers, const Dataset& images, World* world = nullptr);

}  // namespace pagoda::app
