#pragma once

#include <cstdint>

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

namespace pagoda {

// A `.pt2` file has numbers of its own for types, layouts and memory formats.
// Fails: DataError that says the number, for one that it does not define.

at::ScalarType scalar_type_of(std::int64_t code);
at::Layout layout_of(std::int64_t code);
at::MemoryFormat memory_format_of(std::int64_t code);

}  // namespace pagoda
