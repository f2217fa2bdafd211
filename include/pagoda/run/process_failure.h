#pragma once

#include <pagoda/world/world.h>

namespace pagoda {

namespace detail {
[[noreturn]] void throw_named(World* world);
}

/// Does the work. What it throws ends the other processes too, and is thrown on with this one's name in front, because
/// launchers mix the processes' messages. A failure of another process, and that of one that is alone
/// (null), stay as they are.
template <class Work>
auto named_failures(World* world, Work work) {
  try {
    return work();
  } catch (...) {
    detail::throw_named(world);
  }
}

}  // namespace pagoda
