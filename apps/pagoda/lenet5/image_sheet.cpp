#include "lenet5/image_sheet.h"

#include <algorithm>
#include <numeric>

#include <ATen/ops/full.h>

namespace pagoda::app {
namespace {

constexpr int kColumns = 8;
constexpr int kGap = 2;  // pixels between two images

/// [3, height, width] of any range as bytes.
at::Tensor as_bytes(const at::Tensor& image) {
  const at::Tensor low = image.min();
  const at::Tensor range = (image.max() - low).clamp_min(1e-6);
  return ((image - low) / range * 255).round().to(at::kByte);
}

}  // namespace

Picture first_images(const Dataset& images, int count) {
  std::vector<std::int64_t> samples(
      static_cast<std::size_t>(std::min<std::int64_t>(count, images.size())));
  std::iota(samples.begin(), samples.end(), 0);
  const at::Tensor input = images.get(samples, 0).input;
  const auto number = static_cast<int>(input.size(0));
  const auto height = static_cast<int>(input.size(2)) + kGap;
  const auto width = static_cast<int>(input.size(3)) + kGap;
  const int columns = std::min(number, kColumns);
  const int rows = (number + kColumns - 1) / kColumns;

  at::Tensor sheet = at::full({3, rows * height - kGap, columns * width - kGap}, 255, at::kByte);
  for (int i = 0; i < number; ++i) {
    sheet.narrow(1, i / kColumns * height, height - kGap)
        .narrow(2, i % kColumns * width, width - kGap)
        .copy_(as_bytes(input[i]));
  }
  return picture_of(sheet);
}

}  // namespace pagoda::app
