#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// What the chosen command does once the command line has been read; returns the exit code.
using Action = std::function<int()>;

/// Adds all of them, in the order of --help.
void add_commands(CLI::App& program, Action& action);

// Each adds its subcommand to the program, and sets `action` when that subcommand is chosen.
void add_doctor_command(CLI::App& program, Action& action);
void add_devices_command(CLI::App& program, Action& action);
void add_data_command(CLI::App& program, Action& action);
void add_train_command(CLI::App& program, Action& action);
void add_runs_command(CLI::App& program, Action& action);
void add_plot_command(CLI::App& program, Action& action);
void add_eval_command(CLI::App& program, Action& action);
void add_translate_command(CLI::App& program, Action& action);
void add_chat_command(CLI::App& program, Action& action);
void add_serve_command(CLI::App& program, Action& action);
void add_average_command(CLI::App& program, Action& action);
void add_export_command(CLI::App& program, Action& action);
void add_show_command(CLI::App& program, Action& action);
void add_bench_command(CLI::App& program, Action& action);
void add_verify_command(CLI::App& program, Action& action);
void add_demo_command(CLI::App& program, Action& action);
void add_completion_command(CLI::App& program, Action& action);
void add_man_command(CLI::App& program, Action& action);

}  // namespace pagoda::app
