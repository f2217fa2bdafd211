#include "bench/choice.h"

#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/json.h>
#include <pagoda/base/toml.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

namespace pagoda::app {
namespace {

/// What a choice is for: it is of no use on another machine.
std::string machine_text() {
  std::int64_t cores = 0;
  std::int64_t cards = 0;
  std::string name;
  for (const Device& device : list_devices()) {
    cores += static_cast<std::int64_t>(device.cores.size());
    cards += device.kind == DeviceKind::cuda ? 1 : 0;
    if (device.kind == DeviceKind::cpu) name = device.name;
  }
  return "# for " + counted(cores, "core") + " of " + name + ", " + counted(cards, "CUDA card");
}

std::filesystem::path choice_path(const std::string& model) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      cache != nullptr && *cache != '\0'
          ? std::filesystem::path(cache)
          : std::filesystem::path(home == nullptr ? "." : home) / ".cache";
  return base / "pagoda" / (model + ".toml");
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::error_code ignored;  // writing says what is wrong
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

bool ends_with(const std::string& text, const char* end) {
  return std::filesystem::path(text).extension() == end;
}

void check(const ChoiceFlags& flags) {
  if (!flags.chart.empty() && !ends_with(flags.chart, ".svg") && !ends_with(flags.chart, ".png")) {
    throw UsageError("the chart '" + flags.chart + "' ends neither in .svg nor in .png");
  }
}

void print_table(const Choice& choice) {
  std::vector<std::vector<std::string>> cells{
      {"way", "samples/s", "95 % interval", "of the best", "rounds"}};
  for (const Standing& standing : choice.standings) {
    cells.push_back({choice.way(standing).name(), grouped(standing.rate),
                     grouped(standing.low) + " - " + grouped(standing.high),
                     grouped(standing.relative, 3), std::to_string(standing.rounds)});
  }
  std::fputs(text_table(cells).c_str(), stdout);
}

void print_json(const Choice& choice) {
  JsonWriter json;
  json.begin_array();
  for (const Standing& standing : choice.standings) {
    json.begin_object();
    json.key("way").value(choice.way(standing).name());
    json.key("samples_per_second").value(standing.rate);
    json.key("low").value(standing.low).key("high").value(standing.high);
    json.key("relative").value(standing.relative);
    json.key("rounds").value(static_cast<std::int64_t>(standing.rounds)).end_object();
  }
  json.end_array();
  std::puts(json.text().c_str());
}

}  // namespace

void add_choice_flags(CLI::App& command, ChoiceFlags& flags) {
  FlagAdder add(command, "Choice");
  add.flag("--choose", flags.choose,
           "find the fastest way: towers, cores of each, stages, parameters, updates, precision");
  add.option("--budget", flags.budget, "seconds that --choose may take")->check(positive_seconds());
  add.option("--choice-file", flags.file,
             "file for the winner, for pagoda train --config (default: kept for --devices auto)");
  add.option("--chart", flags.chart, "file for the speed-ups, .svg or .png (default: none)");
}

std::string Choice::verdict() const {
  const Precision precision = winner().precision;
  const std::string in =
      precision == Precision::fp32 ? "" : std::string(", in ") + precision_name(precision);
  return winner().size() == 1 ? "One device is the fastest" + in + ": more of them do not pay here."
                              : "The fastest: " + winner().name() + ".";
}

SpeedChart Choice::chart(const std::string& model) const {
  SpeedChart chart{"speed-up of " + model, {}};
  std::optional<double> one;
  int most = 0;
  for (const Way& way : ways) most = std::max(most, way.size());
  for (int size = 1; size <= most; ++size) {
    for (const Standing& standing : standings) {  // the fastest first
      if (way(standing).size() != size) continue;
      if (!one) one = standing.relative;
      const double speed_up = standing.relative / *one;
      chart.points.push_back({size, speed_up, speed_up * standing.low / standing.rate,
                              speed_up * standing.high / standing.rate});
      break;
    }
  }
  return chart;
}

Choice race_ways(const ModelMeasuring& model, const std::vector<Device>& devices,
                 const BenchOptions& options, std::chrono::duration<double> budget) {
  Choice choice{.ways = possible_ways(devices, model.layers()), .standings = {}};
  std::vector<Contender> contenders;
  for (const Way& way : choice.ways) {
    BenchOptions own = for_devices(options, way.devices.size());
    own.placement = way.placement;
    own.stages = way.stages;
    own.precision = way.precision;
    auto bench = std::make_shared<std::unique_ptr<Bench>>();  // built when it first runs
    contenders.push_back({way.name(), [=, &model] {
                            if (!*bench) *bench = model.bench(way.devices, own);
                            return (*bench)->run(way.async ? BenchMode::async : BenchMode::full);
                          }});
  }
  choice.standings = race(contenders, {.budget = budget});
  return choice;
}

int choose_way(const MeasuredModel& measured, const std::vector<Device>& devices,
               const BenchOptions& options, const ChoiceFlags& flags, bool json) {
  check(flags);
  const KnownModel& model = measured.model;
  const Choice choice =
      race_ways(measured.measuring, devices, options, std::chrono::duration<double>(flags.budget));
  json ? print_json(choice) : print_table(choice);

  const auto file =
      flags.file.empty() ? choice_path(model.name) : std::filesystem::path(flags.file);
  write_file(file, machine_text() + "\n" + choice.winner().config());
  if (!flags.chart.empty()) {
    const SpeedChart chart = choice.chart(model.name);
    write_file(flags.chart,
               ends_with(flags.chart, ".svg") ? speed_chart_svg(chart) : speed_chart_png(chart));
  }
  const std::string use = flags.file.empty() ? "--devices auto" : "--config " + flags.file;
  std::fprintf(
      stderr, "%s\nwrote %s%s\n", choice.verdict().c_str(), file.c_str(),
      model.training ? ("; use it with pagoda train " + model.name + " " + use).c_str() : "");
  return 0;
}

StoredChoice stored_choice(const std::string& model) {
  const auto path = choice_path(model);
  const std::string again = "; run pagoda bench " + model + " --choose";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw UsageError("nothing was chosen for " + model + " yet (" + path.string() + ")" + again);
  const std::string text = read_file_start(path, kMostTomlBytes + 1);
  const std::string machine = text.substr(0, text.find('\n'));
  if (machine != machine_text()) {
    throw UsageError("the choice in " + path.string() + " was made on another machine (" +
                     machine.substr(std::min<std::size_t>(2, machine.size())) + ")" + again);
  }
  try {
    for (const TomlEntry& entry : parse_toml(text, path.string()).entries) {
      const auto* devices = std::get_if<std::string>(&entry.value);
      if (entry.name == "devices" && devices != nullptr)
        return {.file = path.string(), .options = text, .devices = *devices};
    }
  } catch (const DataError& error) {
    throw UsageError(error.what() + again);
  }
  throw UsageError(path.string() + " names no devices" + again);
}

}  // namespace pagoda::app
