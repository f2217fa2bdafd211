#pragma once

#include <array>
#include <cstdint>

namespace pagoda::app {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 7;

/// A character's rows from the top; the lowest five bits of each are its pixels, the highest of
/// them on the left.
using Glyph = std::array<std::uint8_t, kGlyphHeight>;

/// Letters (without case), digits and .,:-_+()/%=; blank for everything else.
const Glyph& glyph_of(char character);

}  // namespace pagoda::app
