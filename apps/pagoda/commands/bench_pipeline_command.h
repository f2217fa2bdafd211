#pragma once

#include "commands/commands.h"

namespace pagoda::app {

/// `pagoda bench pipeline`.
void add_bench_pipeline_command(CLI::App& bench, Run& run);

}  // namespace pagoda::app
