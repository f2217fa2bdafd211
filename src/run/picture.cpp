#include <pagoda/run/picture.h>

namespace pagoda {

Picture picture_of(const at::Tensor& channels) {
  const at::Tensor interleaved = channels.permute({1, 2, 0}).contiguous();
  const auto* bytes = interleaved.const_data_ptr<std::uint8_t>();
  return {.width = static_cast<int>(channels.size(2)),
          .height = static_cast<int>(channels.size(1)),
          .pixels = {bytes, bytes + interleaved.numel()}};
}

}  // namespace pagoda
