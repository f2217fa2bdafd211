#pragma once

#include <string>

#include "base/random_streams.h"

namespace pagoda::fuzz {

/// The bytes with one to four changes, drawn from `random`: bits flipped, bytes replaced, blocks
/// left out, doubled, moved or made of zeros, the end cut off, numbers made extreme, or a piece of
/// `other` put in. It may happen to be the same.
std::string mutated(std::string bytes, const std::string& other, SplitMix64& random);

}  // namespace pagoda::fuzz
