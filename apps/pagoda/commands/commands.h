#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// What the chosen command does once the command line has been read; returns the exit code.
using Run = std::function<int()>;

// Each adds its subcommand to the program, and sets `run` when that subcommand is chosen.
void add_devices_command(CLI::App& program, Run& run);
void add_data_command(CLI::App& program, Run& run);
void add_train_command(CLI::App& program, Run& run);
void add_eval_command(CLI::App& program, Run& run);
void add_translate_command(CLI::App& program, Run& run);
void add_chat_command(CLI::App& program, Run& run);
void add_average_command(CLI::App& program, Run& run);
void add_export_command(CLI::App& program, Run& run);
void add_bench_command(CLI::App& program, Run& run);
void add_verify_command(CLI::App& program, Run& run);
void add_demo_command(CLI::App& program, Run& run);

}  // namespace pagoda::app
