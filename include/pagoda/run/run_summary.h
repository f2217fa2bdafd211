#pragma once

#include <pagoda/device/device_memory.h>
#include <pagoda/train/evaluate.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// How one call of `train` went.
struct RunSummary {
  const char* end = "finished";  ///< why it ended
  int exit_code = 0;             ///< 0; after a signal 128 plus its number, such as 130 for SIGINT
  int towers = 0;                ///< of all processes
  std::string unit = "samples";  ///< what `samples` counts
  std::int64_t steps = 0;        ///< of the whole run, earlier calls included
  std::int64_t skipped = 0;      ///< steps of this call whose loss or gradient was not finite
  std::int64_t overflows = 0;    ///< updates of this call that were skipped in fp16 (see LossScale)
  double samples = 0;            ///< of this call
  double seconds = 0;            ///< of this call, validation included
  double waited = 0;             ///< seconds spent waiting for data
  double stalled = 0;            ///< seconds in which checkpoints held up training
  double loss = 0;               ///< of the last step
  std::vector<Device> devices = {};    ///< of this process's towers and all their stages
  std::vector<MemoryUse> memory = {};  ///< use of these devices, at the end
  std::optional<Evaluation> validation = std::nullopt;  ///< the last one

  /// Rate of this call, validation included.
  double samples_per_second() const { return seconds > 0 ? samples / seconds : 0; }
};

/// The summary as one line for a person.
std::string summary_text(const RunSummary& summary);

/// The summary as a JSON object on one line.
std::string summary_json(const RunSummary& summary);

}  // namespace pagoda
