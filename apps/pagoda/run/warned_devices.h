#pragma once

#include <pagoda/run/device_choice.h>

#include "run/warning.h"

namespace pagoda::app {

/// As ChosenDevices; says on stderr when towers have to share cores.
class WarnedDevices : public ChosenDevices {
 public:
  explicit WarnedDevices(const DeviceChoice& choice) : ChosenDevices(choice) {
    if (const std::string text = warning(); !text.empty()) print_warning(text);
  }
};

}  // namespace pagoda::app
