#include "bench/choice_together.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>
#include <cstdio>

#include "bench/choice_file.h"
#include "bench/choice_report.h"
#include "bench/ways_together.h"

namespace pagoda::app {
namespace {

/// Processes that measure different things would wait for each other for ever.
void expect_same_measurement(World& world, const BenchOptions& options, double budget_seconds) {
  const std::vector<std::string> all = world.gather(
      "--steps " + std::to_string(options.steps) + " --wire " + wire_name(options.wire) +
      " --sync-every " + std::to_string(options.local_steps.every) + " --sync-overlap " +
      std::to_string(options.local_steps.overlap) + " --budget " + number_text(budget_seconds));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all.front()) continue;
    throw UsageError(world.name(static_cast<int>(rank)) + " measures with " + all[rank] +
                     " instead of " + all.front() + "; start all with the same command line");
  }
}

/// The fastest of those that do not spread the optimizer's state over the processes.
const Way& fastest_whole(const Choice& choice) {
  const auto found =
      std::find_if(choice.standings.begin(), choice.standings.end(), [&](const Standing& standing) {
        return choice.way(standing).placement != ParameterPlacement::spread;
      });
  return found == choice.standings.end() ? choice.winner() : choice.way(*found);
}

}  // namespace

const Standing& TogetherChoice::asked() const {
  return *std::find_if(exchanges.standings.begin(), exchanges.standings.end(),
                       [](const Standing& standing) { return standing.contender == 0; });
}

const Way& TogetherChoice::kept(bool any_exchange) const {
  return any_exchange ? exchanges.winner() : exchanges.ways.front();
}

std::string TogetherChoice::verdict(bool any_exchange) const {
  const std::string fastest = "The fastest: " + kept(any_exchange).name() + ".";
  if (any_exchange) return fastest;
  std::string gains;
  for (const Standing& standing : exchanges.standings) {
    const double gain = standing.relative / asked().relative;
    if (gain <= 1) continue;
    gains += (gains.empty() ? " " : ", ") + grouped(gain, 2) + " times as fast with " +
             difference_text(exchanges.way(standing), exchanges.ways.front());
  }
  if (gains.empty()) return fastest + " No other exchange is faster.";
  return fastest + "\nIt would be" + gains +
         ", and compute other numbers; --any-exchange keeps the fastest.";
}

TogetherChoice race_together(const ModelMeasuring& model, const DeviceChoice& choice,
                             const std::vector<Device>& devices, const BenchOptions& options,
                             double budget_seconds) {
  World& world = *options.world;
  expect_same_measurement(world, options, budget_seconds);
  const auto ways = ways_of_all(world, choice, devices, model.layers(),
                                {.wire = options.wire, .sync_every = options.local_steps.every});
  const std::chrono::duration<double> half(budget_seconds / 2);  // for each race
  TogetherChoice found;
  found.computing = race_ways(model, ways, options, {.budget = half});
  // Rounds that end with a meeting are longer: fewer of them.
  found.exchanges =
      race_ways(model, with_exchanges(found.computing.winner(), fastest_whole(found.computing)),
                options, {.budget = half, .rounds_before_halving = 3, .most_rounds = 30});
  return found;
}

int choose_together(const MeasuredModel& measured, const DeviceChoice& choice,
                    const std::vector<Device>& devices, const BenchOptions& options,
                    const ChoiceFlags& flags, bool json) {
  if (!flags.chart.empty())
    throw UsageError("--chart shows numbers of devices of one process; leave it out");
  const World& world = *options.world;
  const KnownModel& model = measured.model;
  const TogetherChoice found =
      race_together(measured.measuring, choice, devices, options, flags.budget);
  const auto file = keep_choice({.model = model.name, .processes = world.size()},
                                found.kept(flags.any_exchange).config(), flags.file);
  if (world.rank() > 0) return 0;
  const ComparedChoice computing{found.computing, found.computing.standings.front()};
  const ComparedChoice exchanges{found.exchanges, found.asked()};
  if (json) {
    std::fputs(choice_json({computing, exchanges}).c_str(), stdout);
  } else {
    std::printf(
        "%s\n%sThe second race: the best of the first, beside other exchanges, which compute other "
        "numbers: 16 bits are\nrounded, and between meetings each process trains on its own. sent, "
        "waited: mean over the processes.\n",
        choice_table(computing).c_str(), choice_table(exchanges).c_str());
  }
  say_choice(model, flags, found.verdict(flags.any_exchange), file);
  return 0;
}

}  // namespace pagoda::app
