#pragma once

#include <pagoda/run/run_parts.h>
#include <pagoda/world/world.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

// What a run says about itself besides its numbers. All of these only make text.

/// Versions, devices and the command, for the log of the directory.
std::string start_line(const std::vector<Device>& devices, const std::string& command_line);

/// Where the run goes on.
std::string resumed_line(const RunState& state);

/// A run that had another number of towers when it was saved.
std::string changed_towers_line(std::int64_t before, int now);

/// The model, its towers and updates, and how long it trains.
std::string plan_line(const RunOptions& options, const detail::RunParts& parts,
                      std::int64_t steps_per_epoch, std::int64_t last_step);

/// Which of the processes this is.
std::string process_line(const World& world);

/// Of options that mean nothing to a single process.
std::vector<std::string> warnings_alone(const RunOptions& options, const Replicas& replicas);

/// What the other processes cost in a training of so many seconds.
std::string traffic_line(const WorldTraffic& before, const WorldTraffic& after, double seconds);

/// Of a run that is not done: what is there now, and how it is resumed. No directory: null.
std::string unfinished_line(const std::string& end, const std::filesystem::path* directory,
                            const std::string& command_line);

}  // namespace pagoda
