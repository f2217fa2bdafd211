#pragma once

#include <pagoda/device/device_memory.h>
#include <pagoda/train/evaluate.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// How one call of a run went.
struct RunSummary {
  const char* end = "finished";        ///< why it ended
  int exit_code = 0;                   ///< 129, 130, 143 after a signal
  int towers = 0;                      ///< that it ran on
  std::string unit = "samples";        ///< of `samples`
  std::int64_t steps = 0;              ///< of the whole run
  std::int64_t skipped = 0;            ///< of this call, whose loss or gradient was not finite
  std::int64_t overflows = 0;          ///< of this call: updates left out in fp16 (see LossScale)
  double samples = 0;                  ///< of this call
  double seconds = 0;                  ///< of this call, validation included
  double waited = 0;                   ///< seconds without data
  double stalled = 0;                  ///< seconds in which checkpoints were copied
  double loss = 0;                     ///< of the last step
  std::vector<Device> devices = {};    ///< of the towers and all their stages
  std::vector<MemoryUse> memory = {};  ///< of these devices, at the end
  std::optional<Evaluation> validation = std::nullopt;  ///< the last one

  /// Of this call, validation included.
  double samples_per_second() const { return seconds > 0 ? samples / seconds : 0; }
};

/// One line for a person.
std::string summary_text(const RunSummary& summary);

/// A JSON object on one line.
std::string summary_json(const RunSummary& summary);

}  // namespace pagoda
