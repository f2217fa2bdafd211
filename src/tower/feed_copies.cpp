#include "tower/feed_copies.h"

#include <algorithm>
#include <utility>

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace pagoda {

FeedCopies::FeedCopies(const std::vector<Device>& devices)
    : streams_(devices.size()), under_way_(devices.size()) {
  for (const Device& device : devices) cards_.push_back(device.torch_device());
}

at::Tensor FeedCopies::pinned(const at::Tensor& tensor, int tower) const {
  const c10::Device& card = cards_[static_cast<std::size_t>(tower)];
  const bool can = tensor.defined() && tensor.device().is_cpu() && !card.is_cpu() &&
                   tensor.layout() == at::kStrided && tensor.numel() > 0;
  if (!can || at::globalContext().isPinnedPtr(tensor.const_data_ptr(), card.type())) return tensor;
  const at::Tensor plain = tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
  const at::Tensor copy = at::detail::empty_strided_generic(
      plain.sizes(), plain.strides(), at::globalContext().getPinnedMemoryAllocator(card.type()),
      c10::DispatchKeySet(c10::DispatchKey::CPU), plain.scalar_type());
  copy.copy_(plain);
  return copy;
}

at::Tensor FeedCopies::begin(const at::Tensor& tensor, int tower) {
  const auto index = static_cast<std::size_t>(tower);
  const c10::Device& card = cards_[index];
  if (!tensor.defined() || !tensor.device().is_cpu() || card.is_cpu()) return tensor;
  const std::lock_guard lock(mutex_);
  auto& copies = under_way_[index];
  std::erase_if(copies, [](const Copy& copy) { return copy.tensor.use_count() == 1; });
  if (!streams_[index]) {
    streams_[index] =
        c10::impl::VirtualGuardImpl(card.type()).getStreamFromGlobalPool(card, false);
  }
  const c10::StreamGuard guard(*streams_[index]);
  Copy copy{tensor.to(card, tensor.scalar_type(), /*non_blocking=*/true), c10::Event(card.type())};
  copy.arrived.record(*streams_[index]);
  copies.push_back(std::move(copy));
  return copies.back().tensor;
}

void FeedCopies::take(const at::Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  for (auto& copies : under_way_) {
    const auto found = std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) {
      return copy.tensor.is_same(tensor);
    });
    if (found == copies.end()) continue;
    const c10::Stream current =
        c10::impl::VirtualGuardImpl(tensor.device().type()).getStream(tensor.device());
    found->arrived.block(current);
    found->tensor.record_stream(current);
    copies.erase(found);
    return;
  }
}

}  // namespace pagoda
