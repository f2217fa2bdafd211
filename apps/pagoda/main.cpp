#include <pagoda/cli/run_program.h>
#include <pagoda/device/cpu_cores.h>

#include "commands/commands.h"

int main(int argc, char** argv) {
  return pagoda::guarded_main("pagoda", [&] {
    pagoda::free_of_openmp_places();
    CLI::App program(
        "Pagoda trains one model, written for one device, on every device of the machine.",
        "pagoda");
    pagoda::app::Action action;
    pagoda::app::add_commands(program, action);
    return pagoda::parse_and_run(program, argc, argv, [&] { return action(); });
  });
}
