#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>

#include "run/run_option_table.h"

namespace pagoda {

void add_run_flags(CLI::App& command, RunOptions& options) {
  FlagAdder add(command);
  list_run_options(add, options);
}

void add_device_flags(CLI::App& command, DeviceChoice& choice) {
  FlagAdder add(command);
  list_device_options(add, choice);
}

void add_parameters_flag(CLI::App& command, std::optional<ParameterPlacement>& parameters) {
  FlagAdder add(command);
  list_placement_option(add, parameters);
}

void add_precision_flags(CLI::App& command, Precision& precision, MatmulPrecision& matmul) {
  FlagAdder add(command);
  list_precision_options(add, precision, matmul);
}

void add_optimizer_flags(CLI::App& command, OptimizerChoice& choice) {
  FlagAdder add(command);
  list_optimizer_options(add, choice);
}

void add_stage_flags(CLI::App& command, StageChoice& choice) {
  FlagAdder add(command);
  list_stage_options(add, choice);
}

void add_process_flags(CLI::App& command, WorldChoice& choice) {
  FlagAdder add(command);
  list_process_options(add, choice);
}

void add_exchange_flags(CLI::App& command, WireType& wire, LocalSteps& local_steps) {
  FlagAdder add(command);
  list_exchange_options(add, wire, local_steps);
}

const char* wire_name(WireType wire) { return word_of(kWires, wire); }

}  // namespace pagoda
