#pragma once

#include <pagoda/cli/preset.h>

#include <span>

namespace pagoda::app {

/// Presets of `pagoda train lenet5`. benchmarks/README.md has what those that were measured reached.
std::span<const Preset> lenet5_presets();

}  // namespace pagoda::app
