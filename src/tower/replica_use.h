#pragma once

#include <cstdint>

namespace pagoda {

/// What the steps over the same replicas must know of each other.
///
/// Threads: the coordinating thread.
struct ReplicaUse {
  /// How many AveragedParameters stand in for the parameters.
  int stand_ins = 0;
  /// The step whose towers are still at work after its call; null for none.
  const void* at_work = nullptr;
  /// Counts how often a step has made the buffers of all towers equal.
  std::int64_t buffer_version = 0;
};

/// Fails: UsageError that says why `what` has to wait while averages stand in for the parameters, or
/// another step than `step` is at work.
void check_free(const ReplicaUse& use, const void* step, const char* what);

}  // namespace pagoda
