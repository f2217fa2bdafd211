#pragma once

#include <pagoda/cli/preset.h>

#include <span>

namespace pagoda::app {

/// Presets of `pagoda train seq2seq`. benchmarks/README.md has what those that were measured reached.
std::span<const Preset> seq2seq_presets();

}  // namespace pagoda::app
