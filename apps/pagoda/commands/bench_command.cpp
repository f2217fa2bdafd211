#include <pagoda/models/lenet5.h>

#include "bench/bench_report.h"
#include "bench/lenet5_bench.h"
#include "bench/mlp_bench.h"
#include "bench/seq2seq_bench.h"
#include "commands/bench_pipeline_command.h"
#include "commands/bench_run_command.h"
#include "commands/commands.h"

namespace pagoda::app {
namespace {

void add_lenet5_bench(CLI::App& bench, Action& action) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command =
      bench.add_subcommand("lenet5", "LeNet-5 on 1 to all towers, beside the limit and threads");
  add_bench_flags(*command, *flags);
  command->callback([flags, &action] {
    action = [flags] {
      return run_bench({.name = "lenet5",
                        .make = make_lenet5_bench,
                        .layers = [] { return static_cast<int>(LeNet5()->layers().size()); }},
                       *flags);
    };
  });
}

void add_mlp_bench(CLI::App& bench, Action& action) {
  struct MlpFlags {
    BenchFlags bench;
    MlpBenchFlags model;
  };
  auto flags = std::make_shared<MlpFlags>();
  CLI::App* command =
      bench.add_subcommand("mlp", "The same for equal layers, as many and as wide as you like");
  add_bench_flags(*command, flags->bench);
  add_mlp_bench_flags(*command, flags->model);
  command->callback([flags, &action] {
    action = [flags] {
      return run_bench({.name = "mlp",
                        .trains = false,
                        .make =
                            [&](const std::vector<Device>& devices, const BenchOptions& options) {
                              return make_mlp_bench(devices, options, flags->model);
                            },
                        .layers = [&] { return flags->model.layers; }},
                       flags->bench);
    };
  });
}

void add_seq2seq_bench(CLI::App& bench, Action& action) {
  struct Seq2SeqFlags {
    BenchFlags bench = {.bench = {.steps = 4}, .rounds = 5};  // a step takes about a second
    Seq2SeqBenchFlags model;
  };
  auto flags = std::make_shared<Seq2SeqFlags>();
  CLI::App* command =
      bench.add_subcommand("seq2seq", "The same for encoder and decoder with attention");
  add_bench_flags(*command, flags->bench);
  add_seq2seq_bench_flags(*command, flags->model);
  command->callback([flags, &action] {
    action = [flags] {
      return run_bench({.name = "seq2seq",
                        .make =
                            [&](const std::vector<Device>& devices, const BenchOptions& options) {
                              return make_seq2seq_bench(devices, options, flags->model);
                            },
                        .layers =
                            [&] {
                              Seq2Seq model(seq2seq_bench_model(flags->model));
                              return static_cast<int>(model->layers().size());
                            }},
                       flags->bench);
    };
  });
}

}  // namespace

void add_bench_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("bench", "Measure how fast this machine trains");
  command->require_subcommand(1);
  add_lenet5_bench(*command, action);
  add_seq2seq_bench(*command, action);
  add_mlp_bench(*command, action);
  add_bench_run_command(*command, action);
  add_bench_pipeline_command(*command, action);
}

}  // namespace pagoda::app
