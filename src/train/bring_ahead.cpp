#include <pagoda/base/error.h>
#include <pagoda/train/bring_ahead.h>

#include <algorithm>

#include "tower/feed_copies.h"

namespace pagoda::detail {
namespace {

int tower_of(const Replicas& replicas, std::size_t feed) {
  return static_cast<int>(feed % static_cast<std::size_t>(replicas.size()));
}

}  // namespace

at::Tensor pinned_for_card(const Replicas& replicas, const at::Tensor& tensor, std::size_t feed) {
  try {
    return replicas.feed_copies().pinned(tensor, tower_of(replicas, feed));
  } catch (const c10::Error&) {
    return tensor;  // no more memory can be pinned: the copy will block
  }
}

at::Tensor sent_to_card(const Replicas& replicas, const at::Tensor& tensor, std::size_t feed) {
  try {
    return replicas.feed_copies().begin(tensor, tower_of(replicas, feed));
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception&) {
    return tensor;  // no room on the card yet, or it is lost: its tower will see, in its step
  }
}

bool has_cards(const Replicas& replicas) {
  return std::any_of(replicas.devices().begin(), replicas.devices().end(),
                     [](const Device& device) { return device.kind != DeviceKind::cpu; });
}

}  // namespace pagoda::detail
