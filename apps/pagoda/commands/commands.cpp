#include "commands/commands.h"

namespace pagoda::app {

void add_commands(CLI::App& program, Action& action) {
  program.require_subcommand(1);
  add_doctor_command(program, action);
  add_devices_command(program, action);
  add_data_command(program, action);
  add_train_command(program, action);
  add_runs_command(program, action);
  add_plot_command(program, action);
  add_eval_command(program, action);
  add_translate_command(program, action);
  add_chat_command(program, action);
  add_serve_command(program, action);
  add_export_command(program, action);
  add_average_command(program, action);
  add_show_command(program, action);
  add_bench_command(program, action);
  add_verify_command(program, action);
  add_demo_command(program, action);
  add_completion_command(program, action);
  add_man_command(program, action);
}

}  // namespace pagoda::app
