#pragma once

#include <pagoda/program/program_summary.h>

#include <string>

namespace pagoda::app {

/// What an exported program holds, as lines: inputs, outputs, tensors, operators with counts, how it
/// is evaluated, and what of it cannot be run.
std::string program_report(const ProgramSummary& summary);

}  // namespace pagoda::app
