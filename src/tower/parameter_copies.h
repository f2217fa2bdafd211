#pragma once

#include <pagoda/params/parameter_table.h>
#include <pagoda/tower/parameter_placement.h>

#include <vector>

#include "params/block_plan.h"

namespace pagoda {

/// The copies of the parameters that a placement asks for: a master in CPU memory, one for each
/// tower, and how they are kept equal.
///
/// Threads: adopt(t), publish(t), renew(t) and renew_frozen(t) in the thread of tower t; the rest on
/// the coordinating thread, and renew too while no tower runs.
class ParameterCopies {
 public:
  ParameterCopies(std::vector<Device> devices, ParameterPlacement placement);

  ParameterPlacement placement() const { return placement_; }

  /// Whether an update takes place on the towers (mirrored, spread) and not in the master.
  bool towers_update() const {
    return placement_ == ParameterPlacement::mirrored || placement_ == ParameterPlacement::spread;
  }

  /// The current parameters in CPU memory: tower 0's own where all towers are CPU towers (but for
  /// host placement), otherwise a copy, which is brought up to date here: while no tower runs.
  const ParameterTable& master() const;

  /// The same without its values, which may be behind.
  const ParameterTable& layout() const { return master_; }

  /// The elements of each parameter that are the tower's share of an update.
  const std::vector<ElementRange>& share(int tower) const {
    return shares_[static_cast<std::size_t>(tower)];
  }

  /// The towers are some of more, in several processes: `first` and those after it of `total`, and
  /// their shares are those of these numbers. Between steps.
  void divide_among(int first, int total);

  /// Makes the master out of tower 0's tensors, before any other tower's.
  void begin(const ParameterTable& first);

  /// Takes a further tower's tensors, gives them the master's values, and memory where that is
  /// shared.
  void adopt(int tower, const ParameterTable& own);

  /// Where the towers update: writes the tower's share of its parameters into the master, after its
  /// part of an update.
  void publish(int tower) const;

  /// Where the towers update and did not publish: the master is behind until somebody reads it.
  void note_update() const { behind_ = true; }

  /// Renews the tower's copy from the master, after an update; nothing to do where that is the
  /// tower's own.
  void renew(int tower) const;

  /// Takes tower 0's values as the master's, after they were loaded from outside.
  void master_from_first() const;

  /// As `renew`, for parameters that no update changes.
  void renew_frozen(int tower) const;

  /// Gives the tower tower 0's buffers.
  void renew_buffers(int tower) const;

 private:
  const std::vector<NamedTensor>& trainable(int tower) const {
    return towers_[static_cast<std::size_t>(tower)].trainable;
  }
  bool is_master(int tower) const { return !own_master_ && tower == 0; }

  // Constant after construction of all towers.
  std::vector<Device> devices_;
  ParameterPlacement placement_;
  bool own_master_;  // a copy, not tower 0's parameters
  ParameterTable master_;
  std::vector<ParameterTable> towers_;
  std::vector<std::vector<ElementRange>> shares_;  // by tower, then by parameter

  mutable bool behind_ = false;  // what the master has of the last updates; coordinating thread
};

}  // namespace pagoda
