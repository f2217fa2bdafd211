#include "draw/drawing.h"

#include <gtest/gtest.h>

#include "draw/pixel_font.h"

namespace pagoda::app {
namespace drawing_test {

constexpr Colour kRed = {255, 0, 0};
constexpr Colour kWhite = {255, 255, 255};

Colour pixel(const Picture& picture, int x, int y) {
  const auto at = 3u * static_cast<std::size_t>(y * picture.width + x);
  return {picture.pixels[at], picture.pixels[at + 1], picture.pixels[at + 2]};
}

int inked(const Picture& picture) {
  int count = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) count += pixel(picture, x, y) != kWhite ? 1 : 0;
  }
  return count;
}

TEST(DrawingTest, AnEmptyDrawingIsWhitePaper) {
  const Picture picture = picture_of(Drawing{.width = 7, .height = 5});
  EXPECT_EQ(picture.width, 7);
  EXPECT_EQ(picture.height, 5);
  EXPECT_EQ(picture.pixels.size(), 3u * 7 * 5);
  EXPECT_EQ(inked(picture), 0);
}

TEST(DrawingTest, ALineCoversThePixelsAlongIt) {
  // Through the centres of the row's pixels, from the third to the eighth.
  const Picture picture =
      picture_of(Drawing{.width = 11, .height = 7, .lines = {{2.5, 3.5, 7.5, 3.5, kRed}}});
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 11; ++x)
      EXPECT_EQ(pixel(picture, x, y), y == 3 && x >= 2 && x <= 7 ? kRed : kWhite) << x << "," << y;
  }
}

TEST(DrawingTest, ALineBetweenTwoRowsIsHalfInEach) {
  const Picture picture =
      picture_of(Drawing{.width = 9, .height = 6, .lines = {{0, 3, 9, 3, kRed}}});
  for (const int y : {2, 3}) EXPECT_EQ(pixel(picture, 4, y), (Colour{255, 128, 128})) << y;
  for (const int y : {1, 4}) EXPECT_EQ(pixel(picture, 4, y), kWhite) << y;
}

TEST(DrawingTest, ADashedLineHasAsManyGapsAsDashes) {
  const auto line_of = [](bool dashed) {
    return picture_of(
        Drawing{.width = 60, .height = 3, .lines = {{0, 1.5, 60, 1.5, kRed, 1, dashed}}});
  };
  EXPECT_EQ(inked(line_of(false)), 60);
  EXPECT_EQ(inked(line_of(true)), 30);
}

TEST(DrawingTest, WhatLiesOutsideIsNotShown) {
  const Picture picture =
      picture_of(Drawing{.width = 4,
                         .height = 4,
                         .lines = {{-50, -10, -20, -10, kRed, 3}, {1, 1, 1, 1, kRed}},  // no length
                         .texts = {{100, 100, "far away"}}});
  EXPECT_EQ(inked(picture), 0);
}

TEST(DrawingTest, WordsAreAnchoredAsTheySay) {
  constexpr int kAdvance = (kGlyphWidth + 1) * 2;  // glyphs are drawn twice as large
  const auto columns_of = [](Anchor anchor) {
    const Picture picture =
        picture_of(Drawing{.width = 200, .height = 40, .texts = {{100, 30, "==", anchor}}});
    std::pair<int, int> range{200, -1};
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 200; ++x) {
        if (pixel(picture, x, y) == kWhite) continue;
        range = {std::min(range.first, x), std::max(range.second, x)};
      }
    }
    return range;
  };
  const int shown = 2 * kAdvance - 2 - 1;  // from the first column to the last, without the gap
  EXPECT_EQ(columns_of(Anchor::start), std::pair(100, 100 + shown));
  EXPECT_EQ(columns_of(Anchor::middle), std::pair(100 - kAdvance, 100 - kAdvance + shown));
  EXPECT_EQ(columns_of(Anchor::end), std::pair(100 - 2 * kAdvance, 100 - 2 * kAdvance + shown));
}

TEST(DrawingTest, SvgSaysTheSame) {
  EXPECT_EQ(svg_of({.width = 20,
                    .height = 10,
                    .lines = {{1, 2, 3.25, 4, kRed, 2, true}},
                    .texts = {{5, 6, "a < b & c", Anchor::end}}}),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\" "
            "font-family=\"sans-serif\" font-size=\"14\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
            "<line x1=\"1.0\" y1=\"2.0\" x2=\"3.2\" y2=\"4.0\" stroke=\"rgb(255,0,0)\" "
            "stroke-width=\"2.0\" stroke-dasharray=\"6\"/>\n"
            "<text x=\"5.0\" y=\"6.0\" text-anchor=\"end\">a &lt; b &amp; c</text>\n"
            "</svg>\n");
}

TEST(DrawingTest, PngHasItsSignatureAndSize) {
  const std::string png = png_of({.width = 300, .height = 2});
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x01\x2c\0\0\0\x02", 8));
}

TEST(PixelFontTest, LettersHaveNoCaseAndTheUnknownIsBlank) {
  EXPECT_EQ(glyph_of('A'), glyph_of('a'));
  EXPECT_NE(glyph_of('0'), glyph_of('o'));
  for (const char unknown : {' ', '~', '\xc3'}) EXPECT_EQ(glyph_of(unknown), Glyph{});
  for (const char* known = "abcdefghijklmnopqrstuvwxyz0123456789.,:-+()/%="; *known; ++known) {
    EXPECT_NE(glyph_of(*known), Glyph{}) << *known;
    for (const auto row : glyph_of(*known)) EXPECT_LT(row, 1 << kGlyphWidth) << *known;
  }
}

}  // namespace drawing_test
}  // namespace pagoda::app
