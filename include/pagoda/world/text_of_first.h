#pragma once

#include <pagoda/world/world.h>

#include <string>

namespace pagoda {

/// Rank 0's text, any bytes, at every process; the others' `own` does not count. All call it together.
/// Fails: WorldError.
std::string text_of_first(World& world, const std::string& own);

}  // namespace pagoda
