#include "bench/choice.h"

#include <pagoda/base/error.h>
#include <pagoda/cli/flag_adder.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include "bench/choice_file.h"
#include "bench/choice_report.h"

namespace pagoda::app {
namespace {

bool ends_with(const std::string& text, const char* end) {
  return std::filesystem::path(text).extension() == end;
}

void check(const ChoiceFlags& flags) {
  if (!flags.chart.empty() && !ends_with(flags.chart, ".svg") && !ends_with(flags.chart, ".png")) {
    throw UsageError("the chart '" + flags.chart + "' ends neither in .svg nor in .png");
  }
  if (flags.any_exchange)
    throw UsageError("--any-exchange is for several processes; start more of them");
}

std::chrono::steady_clock::time_point time_of_first(World& world) {
  using Clock = std::chrono::steady_clock;
  const at::Tensor ticks =
      at::full({1}, static_cast<std::int64_t>(Clock::now().time_since_epoch().count()), at::kLong);
  world.broadcast(ticks);
  return Clock::time_point(Clock::duration(ticks.item<std::int64_t>()));
}

/// The rate of all processes, and the mean of what each has sent and waited for.
void share_round(World& world, BenchRound& round) {
  const at::Tensor sums = at::tensor(
      {round.samples_per_second, static_cast<double>(round.traffic.bytes), round.traffic.seconds},
      at::kDouble);
  world.sum(sums);
  const auto* values = sums.const_data_ptr<double>();
  round.samples_per_second = values[0];
  round.traffic.bytes = static_cast<std::int64_t>(values[1] / world.size());
  round.traffic.seconds = values[2] / world.size();
}

BenchOptions options_for(const Way& way, const BenchOptions& options) {
  BenchOptions own = for_devices(
      options, way.together ? static_cast<std::size_t>(way.together->devices) : way.devices.size());
  own.placement = way.placement;
  own.stages = way.stages;
  own.precision = way.precision;
  if (way.together) {
    own.wire = way.together->wire;
    own.local_steps.every = way.together->sync_every;
    own.local_steps.overlap = std::min(options.local_steps.overlap, own.local_steps.every - 1);
    own.steps = round_steps(way, options.steps);
  }
  return own;
}

/// One way, which is built when it first runs, and what its rounds have found in all.
struct TriedWay {
  std::unique_ptr<Bench> bench;
  BenchRound total;

  LinkCost cost() const {
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, total.steps));
    return {.bytes = static_cast<double>(total.traffic.bytes) / steps,
            .seconds = total.traffic.seconds / steps};
  }
};

}  // namespace

void add_choice_flags(CLI::App& command, ChoiceFlags& flags) {
  FlagAdder add(command, "Choice");
  add.flag(
      "--choose", flags.choose,
      "find the fastest way: towers, cores of each, stages, parameters, updates, precision; of "
      "several processes also what other wires and steps between meetings would gain");
  add.option("--budget", flags.budget, "seconds that --choose may take")->check(positive_seconds());
  add.option("--choice-file", flags.file,
             "file for the winner, for pagoda train --config (default: kept for --devices auto)");
  add.option("--chart", flags.chart, "file for the speed-ups, .svg or .png (default: none)");
  add.flag(
      "--any-exchange", flags.any_exchange,
      "the winner may have another --wire or --sync-every than was given, and so compute other "
      "numbers");
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

std::int64_t round_steps(const Way& way, std::int64_t asked) {
  const int every = way.together ? way.together->sync_every : 1;
  return (asked + every - 1) / every * every;
}

Choice race_ways(const ModelMeasuring& model, const std::vector<Way>& ways,
                 const BenchOptions& options, RaceOptions race_options) {
  World* const world = options.world.get();
  if (world != nullptr) race_options.now = [world] { return time_of_first(*world); };
  std::vector<TriedWay> tried(ways.size());
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Way& way = ways[i];
    contenders.push_back({way.name(), [&, world, i, own = options_for(way, options)] {
                            auto& [bench, total] = tried[i];
                            if (!bench) bench = model.bench(way.devices, own);
                            BenchRound round =
                                bench->run(way.async ? BenchMode::async : BenchMode::full);
                            if (world != nullptr) share_round(*world, round);
                            total.steps += round.steps;
                            total.traffic.bytes += round.traffic.bytes;
                            total.traffic.seconds += round.traffic.seconds;
                            return round.samples_per_second;
                          }});
  }
  Choice choice{.ways = ways, .standings = race(contenders, race_options)};
  for (const TriedWay& one : tried) choice.costs.push_back(one.cost());
  return choice;
}

int choose_way(const MeasuredModel& measured, const std::vector<Device>& devices,
               const BenchOptions& options, const ChoiceFlags& flags, bool json) {
  check(flags);
  const KnownModel& model = measured.model;
  const Choice choice =
      race_ways(measured.measuring, possible_ways(devices, measured.measuring.layers()), options,
                {.budget = std::chrono::duration<double>(flags.budget)});
  std::fputs(json ? choice_json({{choice, choice.standings.front()}}).c_str()
                  : choice_table({choice, choice.standings.front()}).c_str(),
             stdout);
  const auto file = keep_choice({.model = model.name}, choice.winner().config(), flags.file);
  if (!flags.chart.empty()) {
    const SpeedChart chart = choice.chart(model.name);
    write_whole(flags.chart,
                ends_with(flags.chart, ".svg") ? speed_chart_svg(chart) : speed_chart_png(chart));
  }
  say_choice(model, flags, choice.verdict(), file);
  return 0;
}

void say_choice(const KnownModel& model, const ChoiceFlags& flags, const std::string& verdict,
                const std::string& file) {
  const std::string use = flags.file.empty() ? "--devices auto" : "--config " + flags.file;
  std::fprintf(
      stderr, "%s\nwrote %s%s\n", verdict.c_str(), file.c_str(),
      model.training ? ("; use it with pagoda train " + model.name + " " + use).c_str() : "");
}

}  // namespace pagoda::app
