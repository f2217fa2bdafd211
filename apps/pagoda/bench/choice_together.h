#pragma once

#include <pagoda/run/device_choice.h>

#include <string>
#include <vector>

#include "bench/choice.h"

namespace pagoda::app {

/// How the ways of several processes came out: first how each of them computes best, with the
/// exchange that was asked for; then what the best would gain by other exchanges, which compute
/// other numbers.
struct TogetherChoice {
  Choice computing;
  Choice exchanges;  ///< of which way 0 is the winner of the first race

  /// Way 0 of the exchanges, with which the others are compared.
  const Standing& asked() const;
  /// The winner of the first race, or of the second where any exchange will do.
  const Way& kept(bool any_exchange) const;
  /// What is kept, and what others would gain.
  std::string verdict(bool any_exchange) const;
};

/// Lets the ways of all processes of `options.world` race: `choice` says what each has, and `devices`
/// what that came to. All call it together, and all find the same.
/// Fails: UsageError when the processes were told different things, when they have no way in common,
/// and as race_ways.
TogetherChoice race_together(const ModelMeasuring& model, const DeviceChoice& choice,
                             const std::vector<Device>& devices, const BenchOptions& options,
                             double budget_seconds);

/// As choose_way, for several processes: rank 0 prints, and each keeps the winner on its machine.
int choose_together(const MeasuredModel& measured, const DeviceChoice& choice,
                    const std::vector<Device>& devices, const BenchOptions& options,
                    const ChoiceFlags& flags, bool json);

}  // namespace pagoda::app
