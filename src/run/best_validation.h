#pragma once

#include <pagoda/checkpoint/run_state.h>
#include <pagoda/run/run_task.h>

#include <cstdint>

namespace pagoda {

/// Counts a validation into what the run knows of its best, by the metric that the task watches;
/// whether this is it. A NaN never is, and never stays it.
bool count_validation(const Evaluation& evaluation, const RunTask& task, RunState& state);

/// Whether so many validations in a row were no better; 0: never.
bool is_stale(const RunState& state, std::int64_t early_stopping);

}  // namespace pagoda
