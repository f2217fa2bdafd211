#pragma once

#include <pagoda/events/rgb_image.h>

#include <string>

namespace pagoda {

/// The image as the bytes of a PNG file: 8 bits a channel, no filters, zlib's default compression.
///
/// Threads: any. Fails: UsageError when it is empty or its pixels are not 3 * width * height bytes.
std::string encode_png(const RgbImage& image);

}  // namespace pagoda
