#pragma once

#include <chrono>
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
  double budget = 60;  ///< seconds
  std::string file;    ///< for the winner; empty: where `--devices auto` finds it
  std::string chart;   ///< .svg or .png; empty: none
};
void add_choice_flags(CLI::App& command, ChoiceFlags& flags);

/// A model, and how it is measured with the flags that were given.
struct MeasuredModel {
  const KnownModel& model;
  const ModelMeasuring& measuring;
};

/// How the ways to train on some devices came out of their race.
struct Choice {
  std::vector<Way> ways;
  std::vector<Standing> standings;  ///< of the ways, the fastest first

  const Way& way(const Standing& standing) const {
    return ways[static_cast<std::size_t>(standing.contender)];
  }
  const Way& winner() const { return way(standings.front()); }
  /// A sentence about the winner: whether more than one device pays.
  std::string verdict() const;
  /// The speed-ups of the best way for each number of cores or cards, over the best with one.
  SpeedChart chart(const std::string& model) const;
};

/// Lets all ways to train a model on these devices race for so long.
/// Fails: UsageError when that is too short, or the batch cannot be divided.
Choice race_ways(const ModelMeasuring& model, const std::vector<Device>& devices,
                 const BenchOptions& options, std::chrono::duration<double> budget);

/// Lets all ways to train on these devices race, prints how they came out, keeps the winner and
/// draws the speed-ups. Gives the exit code.
/// Fails: UsageError for a budget that is too short or a chart of another kind, before anything is
/// measured where that can be; IoError when something cannot be written.
int choose_way(const MeasuredModel& measured, const std::vector<Device>& devices,
               const BenchOptions& options, const ChoiceFlags& flags, bool json);

/// What `--devices` says for "what was chosen".
inline constexpr const char* kChosenDevices = "auto";

/// The options of `pagoda train` that were chosen for a model on this machine.
struct StoredChoice {
  std::string file;     ///< where they are kept
  std::string options;  ///< as TOML
  std::string devices;  ///< of them
};
/// Fails: UsageError when there was no choice yet, when it was made on another machine, or when its
/// file is damaged.
StoredChoice stored_choice(const std::string& model);

}  // namespace pagoda::app
