#pragma once

#include <pagoda/run/device_choice.h>

#include <cstdio>

namespace pagoda::app {

/// As ChosenDevices; says on stderr when towers have to share cores.
class WarnedDevices : public ChosenDevices {
 public:
  explicit WarnedDevices(const DeviceChoice& choice) : ChosenDevices(choice) {
    if (const std::string text = warning(); !text.empty())
      std::fprintf(stderr, "pagoda: warning: %s\n", text.c_str());
  }
};

}  // namespace pagoda::app
