#pragma once

#include <pagoda/base/error.h>

#include <cstdint>
#include <exception>
#include <string>

namespace pagoda {

/// Something failed on a tower: the text reads "tower 2 (cuda:1), backward, step 341: out of
/// memory".
class TowerError : public Error {
 public:
  /// Made by the group that ran the tower.
  TowerError(int tower, const std::string& device, const std::string& phase, std::int64_t step,
             std::exception_ptr cause);

  /// Its number.
  int tower() const { return tower_; }
  /// Its label, such as "cuda:1".
  const std::string& device() const { return device_; }
  /// What it did: "forward", "backward", …
  const std::string& phase() const { return phase_; }
  /// In which step.
  std::int64_t step() const { return step_; }

  /// What the tower's code threw; rethrow it to react to its type.
  std::exception_ptr cause() const { return cause_; }

 private:
  int tower_;
  std::string device_;
  std::string phase_;
  std::int64_t step_;
  std::exception_ptr cause_;
};

/// Thrown on a tower whose work cannot go on because another tower has failed. The group reports the
/// other's error.
class TowerInterrupted : public Error {
 public:
  /// Has no more to say.
  TowerInterrupted() : Error("another tower has failed") {}
};

}  // namespace pagoda
