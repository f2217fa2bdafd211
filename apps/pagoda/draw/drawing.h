#pragma once

#include <pagoda/run/picture.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pagoda::app {

using Colour = std::array<std::uint8_t, 3>;

struct DrawnLine {
  double x1, y1, x2, y2;
  Colour colour;
  double width = 1;
  bool dashed = false;
};

enum class Anchor { start, middle, end };

struct DrawnText {
  double x, y;  ///< of the baseline
  std::string text;
  Anchor anchor = Anchor::start;
};

/// Lines and words on white, in pixels from the upper left corner.
struct Drawing {
  int width = 0;
  int height = 0;
  std::vector<DrawnLine> lines = {};
  std::vector<DrawnText> texts = {};
};

/// The text of an SVG file.
std::string svg_of(const Drawing& drawing);

/// The drawing in pixels. Words are in small capitals of a built-in font; a character that it does
/// not have is left blank. What lies outside of the drawing is not shown.
Picture picture_of(const Drawing& drawing);

/// The picture as the bytes of a PNG file.
std::string png_of(const Drawing& drawing);

}  // namespace pagoda::app
