#include <pagoda/base/error.h>
#include <pagoda/base/json.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "bench_pipeline_command.h"
#include "bench_run_command.h"
#include "commands.h"
#include "device_flags.h"
#include "flags.h"
#include "lenet5_bench.h"
#include "medians.h"
#include "text_table.h"

namespace pagoda::app {
namespace {

struct BenchFlags {
  DeviceFlags devices;
  std::string parameters = kPlacedBySystem;
  BenchOptions bench;
  int rounds = 7;
  bool serve = false;
  bool json = false;
};

/// The rounds of one number of towers.
struct BenchRow {
  std::vector<double> full, unsynchronised, async, threads;
};

std::vector<Device> first(const std::vector<Device>& devices, std::size_t count) {
  return {devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Alternates all modes and numbers of towers in every round: the machine's speed changes
/// meanwhile.
std::vector<BenchRow> measure(const std::vector<Device>& devices, const BenchFlags& flags) {
  std::vector<std::unique_ptr<LeNet5Bench>> benches;
  for (std::size_t towers = 1; towers <= devices.size(); ++towers) {
    benches.push_back(std::make_unique<LeNet5Bench>(first(devices, towers), flags.bench));
  }
  std::vector<BenchRow> rows(benches.size());
  for (int round = -1; round < flags.rounds; ++round) {  // round -1 warms up
    for (std::size_t i = 0; i < benches.size(); ++i) {
      std::vector<std::pair<BenchMode, std::vector<double>*>> modes{
          {BenchMode::full, &rows[i].full},
          {BenchMode::unsynchronised, &rows[i].unsynchronised},
          {BenchMode::async, &rows[i].async},
          {BenchMode::threads, &rows[i].threads}};
      if (round % 2 != 0) std::reverse(modes.begin(), modes.end());  // none always comes first
      for (const auto& [mode, rates] : modes) {
        const double rate = benches[i]->run(mode);
        if (round >= 0) rates->push_back(rate);
      }
    }
  }
  return rows;
}

/// Round by round: the modes of a round met about the same machine.
double efficiency(const std::vector<double>& rates, const BenchRow& row) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rates.size(); ++i) ratios.push_back(rates[i] / row.unsynchronised[i]);
  return median(ratios);
}

void print_json(const std::vector<BenchRow>& rows) {
  JsonWriter json;
  json.begin_array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json.begin_object().key("towers").value(static_cast<std::int64_t>(i + 1));
    json.key("samples_per_second").value(median(rows[i].full));
    json.key("unsynchronised_samples_per_second").value(median(rows[i].unsynchronised));
    json.key("async_samples_per_second").value(median(rows[i].async));
    json.key("threads_samples_per_second").value(median(rows[i].threads));
    json.key("efficiency").value(efficiency(rows[i].full, rows[i]));
    json.key("async_efficiency").value(efficiency(rows[i].async, rows[i])).end_object();
  }
  json.end_array();
  std::puts(json.text().c_str());
}

void print_table(const std::vector<BenchRow>& rows, const BenchFlags& flags) {
  std::vector<std::vector<std::string>> cells{{"towers", "samples/s", "no sync", "efficiency",
                                               "async", "efficiency", "threads", "speed-up"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells.push_back({std::to_string(i + 1), grouped(median(rows[i].full)),
                     grouped(median(rows[i].unsynchronised)),
                     grouped(efficiency(rows[i].full, rows[i]), 3), grouped(median(rows[i].async)),
                     grouped(efficiency(rows[i].async, rows[i]), 3),
                     grouped(median(rows[i].threads)),
                     grouped(median(rows[i].full) / median(rows[0].full), 2)});
  }
  std::printf(
      "%sMedians of %d rounds of %lld steps, batch %lld a tower. no sync: no combining, no update. "
      "async: each\n"
      "tower updates on its own. threads: one tower with the cores of all as threads, the same "
      "samples a step.\nefficiency: samples/s over no sync.\n",
      text_table(cells).c_str(), flags.rounds, static_cast<long long>(flags.bench.steps),
      static_cast<long long>(flags.bench.batch_size));
}

/// For scripts that alternate with other programs: a mode a line on stdin, a result a line on
/// stdout.
int serve(const std::vector<Device>& devices, const BenchFlags& flags) {
  LeNet5Bench bench(devices, flags.bench);
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto mode = bench_mode(line);
    if (!mode)
      throw UsageError("unknown mode '" + line + "'; use full, unsynchronised, async or threads");
    JsonWriter json;
    json.begin_object()
        .key("mode")
        .value(line)
        .key("samples_per_second")
        .value(bench.run(*mode))
        .end_object();
    std::cout << json.text() << std::endl;
  }
  return 0;
}

int bench(const BenchFlags& flags) {
  const ChosenDevices chosen(flags.devices);
  const std::vector<Device>& devices = chosen.list();
  if (flags.serve) return serve(devices, flags);
  const auto rows = measure(devices, flags);
  flags.json ? print_json(rows) : print_table(rows, flags);
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("bench", "Measure how fast this machine trains");
  command->require_subcommand(1);
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* lenet5 =
      command->add_subcommand("lenet5", "LeNet-5 on 1 to all towers, beside the limit and threads");
  const auto add = [&](const char* name, auto& value, const char* text) {
    lenet5->add_option(name, value, text)->capture_default_str()->check(count());
  };
  add("--batch-size", flags->bench.batch_size, "samples for each tower");
  add("--steps", flags->bench.steps, "steps of a round");
  add("--rounds", flags->rounds, "rounds; the median is shown");
  lenet5->add_flag("--serve", flags->serve,
                   "run a round for each line on stdin (full, unsynchronised, async, threads)");
  lenet5->add_flag("--json", flags->json, "print a JSON array instead of a table");
  add_device_flags(*lenet5, flags->devices);
  add_parameters_flag(*lenet5, flags->parameters);
  lenet5->callback([flags, &run] {
    run = [flags] {
      flags->bench.placement = chosen_placement(flags->parameters);
      return bench(*flags);
    };
  });
  add_bench_run_command(*command, run);
  add_bench_pipeline_command(*command, run);
}

}  // namespace pagoda::app
