#include <pagoda/cli/run_program.h>
#include <pagoda/device/cpu_cores.h>

#include "commands/commands.h"

int main(int argc, char** argv) {
  return pagoda::guarded_main("pagoda", [&] {
    pagoda::free_of_openmp_places();
    CLI::App program(
        "Pagoda trains one model, written for one device, on every device of the machine.",
        "pagoda");
    program.require_subcommand(1);
    pagoda::app::Action action;
    pagoda::app::add_devices_command(program, action);
    pagoda::app::add_data_command(program, action);
    pagoda::app::add_train_command(program, action);
    pagoda::app::add_eval_command(program, action);
    pagoda::app::add_translate_command(program, action);
    pagoda::app::add_chat_command(program, action);
    pagoda::app::add_serve_command(program, action);
    pagoda::app::add_export_command(program, action);
    pagoda::app::add_average_command(program, action);
    pagoda::app::add_show_command(program, action);
    pagoda::app::add_bench_command(program, action);
    pagoda::app::add_verify_command(program, action);
    pagoda::app::add_demo_command(program, action);
    return pagoda::parse_and_run(program, argc, argv, [&] { return action(); });
  });
}
