#pragma once

#include <pagoda/run/run_options.h>

#include <string>

namespace pagoda {

/// What all processes of a run must have alike although it may change when the run resumes: the
/// options that decide what they exchange after which step. One `name = value` a line.
std::string shared_plan_text(const RunOptions& options);

}  // namespace pagoda
