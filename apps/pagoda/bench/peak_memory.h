#pragma once

#include <cstdint>
#include <functional>

namespace pagoda::app {

/// The most memory in bytes that this process had resident while the work was done, libraries
/// included (VmHWM of /proc/self/status); 0 where the system does not say. Where it does not let
/// the peak be reset, that of the whole process so far.
std::int64_t peak_memory_of(const std::function<void()>& work);

}  // namespace pagoda::app
