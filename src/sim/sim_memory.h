#pragma once

#include <memory>

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Storage.h>

namespace pagoda {

class SimAccess;

/// Allocates on the current card; its memory is host memory, charged to the card's account.
c10::DeviceAllocator* sim_allocator();

/// A card's storage over memory that an operation on the host has made; charged to the card.
c10::Storage adopt_storage(const c10::Storage& host, int card);

/// Who has used a card's storage; null for memory that is not a card's.
SimAccess* access_of(const c10::Storage& storage);

/// Keeps the memory itself alive, which the card counts as free once its storage is gone.
std::shared_ptr<const void> memory_of(const c10::Storage& storage);

}  // namespace pagoda
