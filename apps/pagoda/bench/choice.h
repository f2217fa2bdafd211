#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/race.h"
#include "bench/ways.h"
#include "draw/speed_chart.h"
#include "model/known_model.h"

namespace pagoda::app {

/// `pagoda bench MODEL --choose`.
struct ChoiceFlags {
  bool choose = false;
  double budget = 60;         ///< seconds
  std::string file;           ///< for the winner; empty: where `--devices auto` finds it
  std::string chart;          ///< .svg or .png; empty: none
  bool any_exchange = false;  ///< of several processes: also one that computes other numbers
};
void add_choice_flags(CLI::App& command, ChoiceFlags& flags);

/// A model, and how it is measured with the flags that were given.
struct MeasuredModel {
  const KnownModel& model;
  const ModelMeasuring& measuring;
};

/// What exchanging costs in a step, as the mean of several processes.
struct LinkCost {
  double bytes = 0;    ///< that a process sends
  double seconds = 0;  ///< that it waits
};

/// How ways to train came out of their race.
struct Choice {
  std::vector<Way> ways;
  std::vector<Standing> standings;   ///< of the ways, the fastest first
  std::vector<LinkCost> costs = {};  ///< of the ways, of several processes

  const Way& way(const Standing& standing) const {
    return ways[static_cast<std::size_t>(standing.contender)];
  }
  const Way& winner() const { return way(standings.front()); }
  /// A sentence about the winner: whether more than one device pays.
  std::string verdict() const;
  /// The speed-ups of the best way for each number of cores or cards, over the best with one.
  SpeedChart chart(const std::string& model) const;
};

/// Lets ways to train a model race. Those of several processes (`options.world`) race in all of them
/// at once, by the sum of their rates and rank 0's clock, so that all come to the same end.
/// Fails: UsageError when the time is too short, or the batch cannot be divided; WorldError.
Choice race_ways(const ModelMeasuring& model, const std::vector<Way>& ways,
                 const BenchOptions& options, RaceOptions race_options);

/// The steps of a round of this way: as many as were asked for, or more up to a meeting of the
/// processes, so that each round has its part of them.
std::int64_t round_steps(const Way& way, std::int64_t asked);

/// Lets all ways to train on these devices race, prints how they came out, keeps the winner and
/// draws the speed-ups. Gives the exit code.
/// Fails: UsageError for a budget that is too short or a chart of another kind, before anything is
/// measured where that can be; IoError when something cannot be written.
int choose_way(const MeasuredModel& measured, const std::vector<Device>& devices,
               const BenchOptions& options, const ChoiceFlags& flags, bool json);

/// Says on stderr what was chosen, and where it is kept.
void say_choice(const KnownModel& model, const ChoiceFlags& flags, const std::string& verdict,
                const std::string& file);

}  // namespace pagoda::app
