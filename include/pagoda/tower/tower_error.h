#pragma once

#include <pagoda/base/error.h>

#include <cstdint>
#include <exception>
#include <string>

namespace pagoda {

/// Something failed on a tower; the text reads "tower 2 (cuda:1), backward, step 341: out of
/// memory".
class TowerError : public Error {
 public:
  /// Created by the group that ran the tower.
  TowerError(int tower, const std::string& device, const std::string& phase, std::int64_t step,
             std::exception_ptr cause);

  /// The tower's number.
  int tower() const { return tower_; }
  /// The label of its device, such as "cuda:1".
  const std::string& device() const { return device_; }
  /// What it was doing: "forward", "backward", …
  const std::string& phase() const { return phase_; }
  /// The step's number, from 0.
  std::int64_t step() const { return step_; }

  /// What the tower's code threw; rethrow it to handle it by type.
  std::exception_ptr cause() const { return cause_; }

 private:
  int tower_;
  std::string device_;
  std::string phase_;
  std::int64_t step_;
  std::exception_ptr cause_;
};

/// Thrown on a tower whose work cannot continue because another tower has failed. The group reports
/// the other tower's error.
class TowerInterrupted : public Error {
 public:
  /// Has a fixed text.
  TowerInterrupted() : Error("another tower has failed") {}
};

}  // namespace pagoda
