#include <pagoda/world/text_of_first.h>

#include <algorithm>
#include <cstdint>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

namespace pagoda {

std::string text_of_first(World& world, const std::string& own) {
  const at::Tensor length = at::full({1}, static_cast<std::int64_t>(own.size()), at::kLong);
  world.broadcast(length);
  const at::Tensor bytes = at::empty({length.item<std::int64_t>()}, at::kByte);
  auto* data = bytes.mutable_data_ptr<std::uint8_t>();
  if (world.rank() == 0) std::copy(own.begin(), own.end(), data);
  if (bytes.numel() > 0) world.broadcast(bytes);
  return {data, data + bytes.numel()};
}

}  // namespace pagoda
