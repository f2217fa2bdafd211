#pragma once

#include <pagoda/events/rgb_image.h>

#include <string>

namespace pagoda {

/// The image as a PNG file: 8 bits per channel, no filters, zlib's default compression.
///
/// Threads: any.
/// Fails: UsageError when the image is empty, has 2^28 pixels or more, or does not have
/// 3 * width * height bytes.
std::string encode_png(const RgbImage& image);

}  // namespace pagoda
