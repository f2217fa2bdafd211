#pragma once

#include "commands/commands.h"

namespace pagoda::app {

/// `pagoda bench run`, below `pagoda bench`.
void add_bench_run_command(CLI::App& bench, Action& action);

}  // namespace pagoda::app
