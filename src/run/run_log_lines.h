#pragma once

#include <pagoda/train/evaluate.h>
#include <pagoda/train/loop.h>

#include <cstdint>
#include <string>

namespace pagoda {

// Lines of a run's log that are read again: how they are written, and how they are found.

/// "validation after step 40: loss 1.2345, accuracy 0.5000 (best so far)".
std::string validation_line(std::int64_t step, const Evaluation& evaluation, bool is_best);

/// "finished", "stopped", "stopped early" or "out of time".
const char* end_name(LoopEnd end, bool stopped_early);

/// "stopped after step 40", with why the run ended.
std::string end_line(const std::string& end, std::int64_t step);

/// Whether a run that ended so has no step left to do.
bool is_done(const std::string& end);

/// What the log of a run says of it.
struct LogFacts {
  std::string best = {};  ///< its best validation: "loss 1.2345, accuracy 0.5000"; empty: none yet
  std::int64_t best_step = 0;
  std::string end = {};  ///< how it ended the last time that it ended by itself; empty: never
  std::int64_t end_step = 0;
};

/// Reads the text of `train.log`, in which each line begins with date and time.
LogFacts log_facts(const std::string& log);

}  // namespace pagoda
