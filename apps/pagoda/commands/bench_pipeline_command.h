#pragma once

#include "commands/commands.h"

namespace pagoda::app {

/// `pagoda bench pipeline`.
void add_bench_pipeline_command(CLI::App& bench, Action& action);

}  // namespace pagoda::app
