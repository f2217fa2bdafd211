#pragma once

#include <pagoda/cli/preset.h>

#include <span>

namespace pagoda::app {

// benchmarks/README.md has what those that were measured reached.

/// Presets of `pagoda train lenet5`.
std::span<const Preset> lenet5_presets();

/// Presets of `pagoda train seq2seq`.
std::span<const Preset> seq2seq_presets();

}  // namespace pagoda::app
