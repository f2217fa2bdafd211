#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/sim_clock.h"

namespace pagoda {

/// Who has used a piece of a card's memory, so that a use that nothing orders behind another is
/// found. A new piece counts as written where it was allocated: what was there before was ordered on
/// that stream only.
///
/// Threads: under the lock of the streams.
class SimAccess {
 public:
  explicit SimAccess(const SimMoment& allocated) : home_(allocated.stream), written_(allocated) {}

  /// Fails: UsageError for a use that comes after another stream's without having waited for it.
  /// `known` is what the stream of this use has waited for.
  void read(const std::string& what, const SimMoment& now, const SimKnown& known);
  void write(const std::string& what, const SimMoment& now, const SimKnown& known);

  /// When it is freed, it is not reused before that stream has done what it has been given.
  void record(const SimStream& stream) { recorded_.insert(stream); }

  /// When it is freed: what is wrong with that, or nothing. `known` is what the stream has waited
  /// for on which it was allocated, and will be reused.
  std::string freed(const SimKnown& known) const;

  const SimStream& home() const { return home_; }

 private:
  SimStream home_;
  SimMoment written_;
  std::vector<SimMoment> read_;  // since then, one for each stream
  std::set<SimStream> recorded_;
};

}  // namespace pagoda
