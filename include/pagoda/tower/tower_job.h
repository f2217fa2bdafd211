#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace pagoda {

struct TowerJob;

/// Called in the tower's thread when it enters a phase; may throw.
using PhaseWatch = std::function<void(const TowerJob& job)>;

/// What a piece of work knows about itself; it keeps `phase` up to date for error messages.
struct TowerJob {
  int tower;                          ///< whose work it is
  const char* phase;                  ///< what it does now
  int stage = 0;                      ///< where a tower is a pipeline of stages
  const PhaseWatch* watch = nullptr;  ///< told of every phase, where there is one

  /// The work begins another phase.
  void enter(const char* name) {
    phase = name;
    if (watch != nullptr && *watch) (*watch)(*this);
  }
};

/// What the group is told about a piece of work.
struct TowerPhase {
  const char* name;       ///< for messages, as is the step
  std::int64_t step = 0;  ///< its number, from 0
  /// Each tower's random stream begins anew, as a function of seed, step and tower.
  bool fresh_randomness = false;
  /// Whose random stream of the step it is; unset: the tower's own.
  std::optional<int> stream = std::nullopt;
  /// Must live as long as the work.
  const PhaseWatch* watch = nullptr;
  /// What traces call it; unset: its name.
  const char* block = nullptr;
};

}  // namespace pagoda
