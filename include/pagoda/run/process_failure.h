#pragma once

#include <pagoda/world/world.h>

namespace pagoda {

namespace detail {
[[noreturn]] void throw_named(World* world);
}

/// Does the work. If it throws, the other processes end too, and the error is rethrown with this
/// process's name in front, because launchers mix the messages of their processes: a UsageError
/// stays one, anything else becomes an Error. A WorldError, which is about another process, is
/// passed on unchanged, and so is everything if `world` is null.
template <class Work>
auto named_failures(World* world, Work work) {
  try {
    return work();
  } catch (...) {
    detail::throw_named(world);
  }
}

}  // namespace pagoda
