#pragma once

#include <pagoda/base/stop_signal.h>
#include <pagoda/base/stopwatch.h>
#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/tower/tower_group.h>
#include <pagoda/train/data_record.h>
#include <pagoda/world/world.h>

#include <chrono>
#include <optional>
#include <string>

namespace pagoda {

// What the processes of one run must agree on. All of them call these together.

/// Fails: UsageError at every process when one has another configuration, other data or another
/// version, with its rank and the first difference.
void expect_same_run(World& world, const std::string& config, const DataRecord& data);

/// Fails: UsageError at every process when one's `plan` differs, as above.
void expect_same_plan(World& world, const std::string& plan);

/// Rank 0's checkpoint, or nothing, at every process.
std::optional<Checkpoint> shared_checkpoint(World& world, std::optional<Checkpoint> own);

/// Fails: UsageError at every process when one begins with other parameters or buffers than rank 0.
void expect_same_values(World& world, const TowerGroup& towers);

/// What rank 0 says, at every process.
bool first_has(World& world, bool own);

/// When a run ends by a signal or by time. Alone, a signal counts at once (and time is the loop's
/// business); several processes end after the same step, whoever was asked. Time is rank 0's.
class StopAgreement {
 public:
  StopAgreement(World* world, const StopSignal& signal,
                std::optional<std::chrono::duration<double>> max_time);

  /// Asked between two steps.
  bool is_agreed();

  /// The signal that ended the run, here or at another process; 0: none.
  int signal_number() const;
  bool is_time_up() const;
  int exit_code() const;

 private:
  World* const world_;
  const StopSignal& signal_;
  const std::optional<std::chrono::duration<double>> max_time_;
  const Stopwatch watch_;
};

}  // namespace pagoda
