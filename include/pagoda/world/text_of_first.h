#pragma once

#include <pagoda/world/world.h>

#include <string>

namespace pagoda {

/// Rank 0's text, which may be any bytes, at every process; what the others pass as `own` is
/// ignored. All processes call it together. Fails: WorldError.
std::string text_of_first(World& world, const std::string& own);

}  // namespace pagoda
