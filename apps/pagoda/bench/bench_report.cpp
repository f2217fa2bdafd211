#include "bench/bench_report.h"

#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/base/json.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/run/process_failure.h>
#include <pagoda/terminal/text_table.h>
#include <pagoda/world/text_of_first.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <ATen/ops/full.h>

#include "bench/choice_together.h"
#include "bench/median.h"
#include "bench/peak_memory.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

/// The rounds of one number of towers.
struct BenchRow {
  std::vector<double> full, unsynchronised, async, threads;
  std::int64_t peak_memory = 0;  // of the process in a round of `full` alone
};

std::vector<Device> first(const std::vector<Device>& devices, std::size_t count) {
  return {devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count)};
}

BenchOptions options_of(const BenchFlags& flags) {
  BenchOptions options = flags.bench;
  options.placement = flags.parameters;
  return options;
}

/// Memory first, each number of towers by itself. Then all modes and numbers of towers alternate in
/// every round: the machine's speed changes meanwhile.
std::vector<BenchRow> measure(const std::vector<Device>& devices, const BenchFlags& flags,
                              const ModelMeasuring& model) {
  const BenchOptions options = options_of(flags);
  std::vector<BenchRow> rows(devices.size());
  std::vector<std::unique_ptr<Bench>> benches;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto some = first(devices, i + 1);
    const BenchOptions own = for_devices(options, some.size());
    rows[i].peak_memory = peak_memory_of([&] { model.bench(some, own)->run(BenchMode::full); });
    benches.push_back(model.bench(some, own));
  }
  for (int round = -1; round < flags.rounds; ++round) {  // round -1 warms up
    for (std::size_t i = 0; i < benches.size(); ++i) {
      std::vector<std::pair<BenchMode, std::vector<double>*>> modes{
          {BenchMode::full, &rows[i].full},
          {BenchMode::unsynchronised, &rows[i].unsynchronised},
          {BenchMode::async, &rows[i].async},
          {BenchMode::threads, &rows[i].threads}};
      if (round % 2 != 0) std::reverse(modes.begin(), modes.end());  // none always comes first
      for (const auto& [mode, rates] : modes) {
        const double rate = benches[i]->run(mode).samples_per_second;
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
    json.key("async_efficiency").value(efficiency(rows[i].async, rows[i]));
    json.key("peak_memory_bytes").value(rows[i].peak_memory).end_object();
  }
  json.end_array();
  std::puts(json.text().c_str());
}

void print_table(const std::vector<BenchRow>& rows, const BenchFlags& flags) {
  std::vector<std::vector<std::string>> cells{{"towers", "samples/s", "no sync", "efficiency",
                                               "async", "efficiency", "threads", "speed-up",
                                               "memory"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells.push_back(
        {std::to_string(i + 1), grouped(median(rows[i].full)),
         grouped(median(rows[i].unsynchronised)), grouped(efficiency(rows[i].full, rows[i]), 3),
         grouped(median(rows[i].async)), grouped(efficiency(rows[i].async, rows[i]), 3),
         grouped(median(rows[i].threads)), grouped(median(rows[i].full) / median(rows[0].full), 2),
         bytes_text(rows[i].peak_memory)});
  }
  std::printf(
      "%sMedians of %s of %s, batch %lld %s. no sync: no combining, no update. "
      "async: each\n"
      "tower updates on its own. threads: one tower with the cores of all as threads, the same "
      "samples a step.\nefficiency: samples/s over no sync. "
      "memory: the most that the process had resident with these towers, libraries included.\n",
      text_table(cells).c_str(), counted(flags.rounds, "round").c_str(),
      counted(flags.bench.steps, "step").c_str(),
      static_cast<long long>(flags.bench.global_batch_size.value_or(flags.bench.batch_size)),
      flags.bench.global_batch_size ? "of all towers" : "a tower");
}

/// The next mode; empty at the end. All processes do what rank 0 is told.
std::string next_mode(World* world) {
  std::string line;
  if (world == nullptr || world->rank() == 0) std::getline(std::cin, line);
  return world == nullptr ? line : text_of_first(*world, line);
}

int serve(Bench& bench, World* world) {
  for (std::string line = next_mode(world); !line.empty(); line = next_mode(world)) {
    const auto mode = bench_mode(line);
    if (!mode)
      throw UsageError("unknown mode '" + line + "'; use full, unsynchronised, async or threads");
    const WorldTraffic before = world != nullptr ? world->traffic() : WorldTraffic{};
    const at::Tensor rate = at::full({1}, bench.run(*mode).samples_per_second, at::kDouble);
    const WorldTraffic after = world != nullptr ? world->traffic() : WorldTraffic{};
    if (world != nullptr) world->sum(rate);
    if (world != nullptr && world->rank() > 0) continue;
    JsonWriter json;
    json.begin_object().key("mode").value(line);
    json.key("samples_per_second").value(rate.item<double>());
    if (world != nullptr) {
      json.key("bytes_given").value(after.bytes - before.bytes);
      json.key("seconds_waited").value(after.seconds - before.seconds);
    }
    std::cout << json.end_object().text() << std::endl;
  }
  return 0;
}

}  // namespace

void add_bench_flags(CLI::App& command, BenchFlags& flags) {
  FlagAdder add(command);
  CLI::Option* each = add.count("--batch-size", flags.bench.batch_size, "samples for each tower");
  add.count("--global-batch-size", flags.bench.global_batch_size,
            "samples of all towers in one step, instead")
      ->excludes(each);
  add.count("--steps", flags.bench.steps, "steps of a round");
  add.count("--rounds", flags.rounds, "rounds; the median is shown");
  add.flag("--serve", flags.serve,
           "run a round for each line on stdin (full, unsynchronised, async, threads)");
  add.flag("--json", flags.json, "print a JSON array instead of a table");
  add_device_flags(command, flags.devices);
  add_process_flags(command, flags.processes);
  add_exchange_flags(command, flags.bench.wire, flags.bench.local_steps);
  add_parameters_flag(command, flags.parameters);
  add_precision_flags(command, flags.bench.precision, flags.bench.matmul);
  add_choice_flags(command, flags.choice);
}

int run_bench(const MeasuredModel& measured, BenchFlags flags) {
  flags.bench.world = join_world(flags.processes, flags.devices);
  if (!flags.bench.world && flags.bench.local_steps.every > 1)
    throw UsageError("--sync-every is for several processes; start more of them");
  if (flags.bench.world && !flags.serve && !flags.choice.choose)
    throw UsageError(
        "several processes are measured with --choose, or with --serve, which takes modes from "
        "rank 0");
  const WarnedDevices chosen(flags.devices);
  const std::vector<Device>& devices = chosen.list();
  if (!flags.bench.world && flags.bench.wire != WireType::fp32 && share_memory(devices))
    throw UsageError("--wire is for several processes, or for cards; start more, or leave it out");
  const ModelMeasuring& model = measured.measuring;
  World* const world = flags.bench.world.get();
  if (flags.choice.choose) {
    return named_failures(world, [&] {
      return world == nullptr ? choose_way(measured, devices, flags.bench, flags.choice, flags.json)
                              : choose_together(measured, flags.devices, devices, flags.bench,
                                                flags.choice, flags.json);
    });
  }
  if (flags.serve) {
    return named_failures(world, [&] {
      const int towers = tower_share(world, chosen.count()).total;
      return serve(
          *model.bench(devices, for_devices(options_of(flags), static_cast<std::size_t>(towers))),
          world);
    });
  }
  const auto rows = measure(devices, flags, model);
  flags.json ? print_json(rows) : print_table(rows, flags);
  return 0;
}

}  // namespace pagoda::app
