#include <pagoda/base/error.h>
#include <pagoda/events/png.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <zlib.h>

namespace pagoda {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(value >> shift));
  }
  return bytes;
}

/// Length, kind, data, checksum of kind and data.
std::string chunk(std::string_view kind, std::string_view data) {
  std::string checked(kind);
  checked += data;
  const auto* bytes = reinterpret_cast<const Bytef*>(checked.data());
  const uLong checksum = crc32_z(0, bytes, checked.size());
  return big_endian(static_cast<std::uint32_t>(data.size())) + checked +
         big_endian(static_cast<std::uint32_t>(checksum));
}

std::string compressed(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(result.data()), &size,
                              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (status != Z_OK) throw Error("zlib cannot compress an image: " + std::to_string(status));
  result.resize(size);
  return result;
}

void check(const RgbImage& image) {
  const bool empty = image.width < 1 || image.height < 1;
  const auto pixels =
      static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height);
  // A quarter of what a chunk can hold, so that no size below overflows.
  if (!empty && pixels < (1u << 28) && image.pixels.size() == 3 * pixels) return;
  throw UsageError("the image has " + std::to_string(image.width) + " x " +
                   std::to_string(image.height) + " pixels with " +
                   std::to_string(image.pixels.size()) +
                   " bytes; it must have 1 to 2^28 - 1 pixels of 3 bytes (red, green, blue)");
}

}  // namespace

std::string encode_png(const RgbImage& image) {
  check(image);
  const std::size_t row = 3 * static_cast<std::size_t>(image.width);
  std::string rows;
  rows.reserve((row + 1) * static_cast<std::size_t>(image.height));
  for (std::size_t begin = 0; begin < image.pixels.size(); begin += row) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(image.pixels.data()) + begin, row);
  }
  const std::string header = big_endian(static_cast<std::uint32_t>(image.width)) +
                             big_endian(static_cast<std::uint32_t>(image.height)) +
                             // 8 bits, RGB, the only compression and filtering, not interlaced
                             std::string("\x08\x02\x00\x00\x00", 5);
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", header) + chunk("IDAT", compressed(rows)) +
         chunk("IEND", "");
}

}  // namespace pagoda
