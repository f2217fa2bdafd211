#include <pagoda/events/png.h>

#include <pagoda/base/error.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

namespace pagoda {
namespace png_test {

struct Chunk {
  std::string kind;
  std::string data;
};

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

/// The chunks of a PNG file, checksums checked.
std::vector<Chunk> chunks_of(std::string_view png) {
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1A\n");
  png.remove_prefix(8);
  std::vector<Chunk> chunks;
  while (png.size() >= 12) {
    const std::size_t length = big_endian(png);
    const std::string_view checked = png.substr(4, 4 + length);
    EXPECT_EQ(big_endian(png.substr(8 + length)), crc32_z(0, bytes_of(checked), checked.size()));
    chunks.push_back({std::string(checked.substr(0, 4)), std::string(checked.substr(4))});
    png.remove_prefix(12 + length);
  }
  EXPECT_TRUE(png.empty());
  return chunks;
}

std::string inflated(std::string_view bytes, std::size_t size) {
  std::string result(size + 1, '\0');  // one more, to see if there is too much
  uLongf written = result.size();
  const int status =
      uncompress(reinterpret_cast<Bytef*>(result.data()), &written, bytes_of(bytes), bytes.size());
  EXPECT_EQ(status, Z_OK);
  result.resize(written);
  return result;
}

std::vector<std::uint8_t> formula_pixels(int width, int height) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3 * width * height));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(i * 7 + i / 5);
  }
  return pixels;
}

TEST(PngTest, DecodesToTheSamePixels) {
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 5}, {5, 1}, {32, 24}, {257, 131}};
  for (const auto& [width, height] : sizes) {
    const auto pixels = formula_pixels(width, height);
    const auto chunks = chunks_of(encode_png({.width = width, .height = height, .pixels = pixels}));
    ASSERT_EQ(chunks.size(), 3u);
    EXPECT_EQ(chunks[0].kind, "IHDR");
    EXPECT_EQ(big_endian(chunks[0].data), static_cast<std::uint32_t>(width));
    EXPECT_EQ(big_endian(chunks[0].data.substr(4)), static_cast<std::uint32_t>(height));
    EXPECT_EQ(chunks[0].data.substr(8), std::string("\x08\x02\0\0\0", 5));
    EXPECT_EQ(chunks[2].kind, "IEND");
    EXPECT_EQ(chunks[2].data, "");

    std::string rows;
    const std::size_t row = 3 * static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      if (i % row == 0) rows += '\0';
      rows += static_cast<char>(pixels[i]);
    }
    EXPECT_EQ(chunks[1].kind, "IDAT");
    EXPECT_EQ(inflated(chunks[1].data, rows.size()), rows);
  }
}

TEST(PngTest, RefusesAnImageWhosePixelsDoNotFit) {
  const std::vector<std::uint8_t> pixels(12);
  const RgbImage wrong[] = {{.width = 0, .height = 0, .pixels = {}},
                            {.width = -2, .height = -2, .pixels = pixels},
                            {.width = 2, .height = 0, .pixels = pixels},
                            {.width = 2, .height = 3, .pixels = pixels},
                            {.width = 1, .height = 1, .pixels = pixels},
                            {.width = 1 << 30, .height = 1 << 30, .pixels = pixels}};
  for (const RgbImage& image : wrong) EXPECT_THROW(encode_png(image), UsageError);
  try {
    encode_png({.width = 2, .height = 3, .pixels = pixels});
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("2 x 3 pixels with 12 bytes"), std::string::npos)
        << error.what();
  }
}

}  // namespace png_test
}  // namespace pagoda
