#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>

namespace pagoda {

/// Allocates on the current card; its memory is host memory, charged to the card's account.
c10::Allocator* sim_allocator();

/// A card's storage over memory that an operation on the host has made; charged to the card.
c10::Storage adopt_storage(const c10::Storage& host, int card);

}  // namespace pagoda
