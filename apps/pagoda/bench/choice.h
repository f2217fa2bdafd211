#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/bench.h"

namespace pagoda::app {

/// `pagoda bench MODEL --choose`.
struct ChoiceFlags {
  bool choose = false;
  double budget = 60;  ///< seconds
  std::string file;    ///< for the winner; empty: where `--devices auto` finds it
  std::string chart;   ///< .svg or .png; empty: none
};
void add_choice_flags(CLI::App& command, ChoiceFlags& flags);

/// Lets all ways to train on these devices race, prints how they came out, keeps the winner and
/// draws the speed-ups. Gives the exit code.
/// Fails: UsageError for a budget that is too short or a chart of another kind, before anything is
/// measured where that can be; IoError when something cannot be written.
int choose_way(const BenchModel& model, const std::vector<Device>& devices,
               const BenchOptions& options, const ChoiceFlags& flags, bool json);

/// What `--devices` says for "what was chosen".
inline constexpr const char* kChosenDevices = "auto";

/// The options of `pagoda train` that were chosen for a model on this machine, as TOML.
/// Fails: UsageError when there was no choice yet, or when it was made on another machine.
std::string stored_choice(const std::string& model);

}  // namespace pagoda::app
