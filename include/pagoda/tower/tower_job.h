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
  int tower;                          ///< the tower whose work it is
  const char* phase;                  ///< what it is doing now
  int stage = 0;                      ///< its stage, if the tower is a pipeline
  const PhaseWatch* watch = nullptr;  ///< called when it enters a phase; null: none

  /// Enters another phase.
  void enter(const char* name) {
    phase = name;
    if (watch != nullptr && *watch) (*watch)(*this);
  }
};

/// What the group needs to know about a piece of work.
struct TowerPhase {
  const char* name;       ///< for messages, like `step`
  std::int64_t step = 0;  ///< the step's number, from 0
  /// Whether each tower's random stream starts anew, as a function of seed, step and tower.
  bool fresh_randomness = false;
  /// The tower whose random stream of the step is used; unset: the tower's own.
  std::optional<int> stream = std::nullopt;
  /// Called when the work enters a phase; must live as long as the work. Null: none.
  const PhaseWatch* watch = nullptr;
  /// Its name in traces; null: `name`.
  const char* block = nullptr;
};

}  // namespace pagoda
