#pragma once

#include <pagoda/run/run_options.h>

#include <optional>

#include <CLI/CLI.hpp>

namespace pagoda {

// Flags for the options of a run, or of a part of it. The values in the structs are the defaults;
// the structs must live as long as the command.

/// All of RunOptions: --devices, --out, --batch-size, --optimizer, ….
void add_run_flags(CLI::App& command, RunOptions& options);

/// --devices, --memory-limit, ….
void add_device_flags(CLI::App& command, DeviceChoice& choice);

/// --parameters: where parameters live; "auto" is what suits the devices.
void add_parameters_flag(CLI::App& command, std::optional<ParameterPlacement>& parameters);

/// --precision, --matmul.
void add_precision_flags(CLI::App& command, Precision& precision, MatmulPrecision& matmul);

/// --optimizer, --lr, --schedule, ….
void add_optimizer_flags(CLI::App& command, OptimizerChoice& choice);

/// --stages, --micro-batches, ….
void add_stage_flags(CLI::App& command, StageChoice& choice);

/// --rank, --world-size, --master, ….
void add_process_flags(CLI::App& command, WorldChoice& choice);

/// --wire, --sync-every, ….
void add_exchange_flags(CLI::App& command, WireType& wire, LocalSteps& local_steps);

/// "fp32", "bf16" or "fp16", as --wire takes it.
const char* wire_name(WireType wire);

}  // namespace pagoda
