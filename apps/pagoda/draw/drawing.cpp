#include "draw/drawing.h"

#include <pagoda/events/png.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "draw/pixel_font.h"

namespace pagoda::app {
namespace {

constexpr double kDash = 6;  // pixels of a dash, and of the gap behind it
constexpr int kGlyphScale = 2;
constexpr Colour kInk = {40, 40, 40};

std::string format(const char* text, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, text, values...);
  return buffer;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char character : text) {
    if (character == '<') {
      safe += "&lt;";
    } else if (character == '&') {
      safe += "&amp;";
    } else {
      safe += character;
    }
  }
  return safe;
}

/// White paper on which ink mixes with what is there.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        height_(height),
        pixels_(3u * static_cast<std::size_t>(width * height), 255) {}

  /// `cover`: 0 leaves the pixel as it is, 1 gives it the colour.
  void mix(int x, int y, const Colour& colour, double cover) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_ || cover <= 0) return;
    std::uint8_t* pixel = &pixels_[3u * static_cast<std::size_t>(y * width_ + x)];
    for (std::size_t c = 0; c < 3; ++c) {
      const double mixed = pixel[c] + (colour[c] - pixel[c]) * std::min(1.0, cover);
      pixel[c] = static_cast<std::uint8_t>(std::lround(mixed));
    }
  }

  /// Each pixel is covered by how near its centre is to the line.
  void draw(const DrawnLine& line) {
    const double dx = line.x2 - line.x1;
    const double dy = line.y2 - line.y1;
    const double length = std::hypot(dx, dy);
    if (length == 0) return;
    const double reach = line.width / 2 + 1;
    const auto low = [&](double a, double b) { return static_cast<int>(std::min(a, b) - reach); };
    const auto high = [&](double a, double b) {
      return static_cast<int>(std::max(a, b) + reach) + 1;
    };
    for (int y = low(line.y1, line.y2); y <= high(line.y1, line.y2); ++y) {
      for (int x = low(line.x1, line.x2); x <= high(line.x1, line.x2); ++x) {
        const double px = x + 0.5 - line.x1;
        const double py = y + 0.5 - line.y1;
        const double along = std::clamp((px * dx + py * dy) / length, 0.0, length);
        if (line.dashed && std::fmod(along, 2 * kDash) >= kDash) continue;
        const double away = std::hypot(px - along * dx / length, py - along * dy / length);
        mix(x, y, line.colour, line.width / 2 + 0.5 - away);
      }
    }
  }

  void draw(const DrawnText& text) {
    const int advance = (kGlyphWidth + 1) * kGlyphScale;
    const int width = advance * static_cast<int>(text.text.size());
    int left = static_cast<int>(text.x);
    if (text.anchor == Anchor::middle) left -= width / 2;
    if (text.anchor == Anchor::end) left -= width;
    const int top = static_cast<int>(text.y) - kGlyphHeight * kGlyphScale;
    for (const char character : text.text) {
      draw(glyph_of(character), left, top);
      left += advance;
    }
  }

  Picture picture() && { return {width_, height_, std::move(pixels_)}; }

 private:
  void draw(const Glyph& glyph, int left, int top) {
    for (int y = 0; y < kGlyphHeight * kGlyphScale; ++y) {
      for (int x = 0; x < kGlyphWidth * kGlyphScale; ++x) {
        const int bit = kGlyphWidth - 1 - x / kGlyphScale;
        if (glyph[static_cast<std::size_t>(y / kGlyphScale)] >> bit & 1)
          mix(left + x, top + y, kInk, 1);
      }
    }
  }

  const int width_;
  const int height_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

std::string svg_of(const Drawing& drawing) {
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\""
      " font-size=\"14\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      drawing.width, drawing.height);
  for (const auto& line : drawing.lines) {
    svg += format(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"rgb(%d,%d,%d)\""
        " stroke-width=\"%.1f\"",
        line.x1, line.y1, line.x2, line.y2, line.colour[0], line.colour[1], line.colour[2],
        line.width);
    svg += line.dashed ? format(" stroke-dasharray=\"%g\"/>\n", kDash) : "/>\n";
  }
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  for (const auto& text : drawing.texts) {
    svg += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", text.x, text.y,
                  kAnchors[static_cast<int>(text.anchor)]) +
           escaped(text.text) + "</text>\n";
  }
  return svg + "</svg>\n";
}

Picture picture_of(const Drawing& drawing) {
  Canvas canvas(drawing.width, drawing.height);
  for (const auto& line : drawing.lines) canvas.draw(line);
  for (const auto& text : drawing.texts) canvas.draw(text);
  return std::move(canvas).picture();
}

std::string png_of(const Drawing& drawing) { return encode_png(picture_of(drawing).view()); }

}  // namespace pagoda::app
