#include "bench/ways_together.h"

#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/cli/run_flags.h>

#include <algorithm>
#include <sstream>

#include <ATen/ops/full.h>

namespace pagoda::app {
namespace {

constexpr WireType kEveryWire[] = {WireType::fp32, WireType::bf16, WireType::fp16};
constexpr int kMeetings[] = {1, 10, 50};  // steps from one to the next

/// What two processes must have in common to go the same way.
std::string common_text(const Way& way) {
  const auto cores = way.together->cores_per_tower;
  return (cores ? counted(*cores, "core") + ", " : "") + counted(way.stages, "stage") + ", " +
         placement_name(way.placement);
}

/// The towers as `choice` gives them, or of other numbers of cores.
std::vector<Way> own_ways(const DeviceChoice& choice, const std::vector<Device>& chosen, int layers,
                          WayTogether exchange) {
  exchange.chosen = choice.devices;
  const bool cpu = chosen.front().kind == DeviceKind::cpu;
  if (cpu) exchange.cores_per_tower = choice.options.cores_per_tower;
  if (choice.devices != DeviceChoice{}.devices || !cpu) return ways_on(chosen, layers, exchange);
  std::size_t cores = 0;
  for (const Device& device : chosen) cores += device.cores.size();
  std::vector<Way> ways;
  for (const int each : powers_up_to(static_cast<int>(cores))) {
    DeviceChoice own = choice;
    own.soft_placement = SoftPlacement::Mode::off;  // which is decided already
    own.options.cores_per_tower = exchange.cores_per_tower = each;
    try {
      for (Way& way : ways_on(ChosenDevices(own).list(), layers, exchange))
        ways.push_back(std::move(way));
    } catch (const UsageError&) {
      // Towers of so many cores cannot be divided among the processes.
    }
  }
  return ways;
}

/// The towers of all processes in each way.
void count_devices(World& world, std::vector<Way>& ways) {
  const at::Tensor counts = at::full({static_cast<std::int64_t>(ways.size())}, 0, at::kLong);
  auto* values = counts.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < ways.size(); ++i)
    values[i] = static_cast<std::int64_t>(ways[i].devices.size());
  world.sum(counts);
  for (std::size_t i = 0; i < ways.size(); ++i)
    ways[i].together->devices = static_cast<int>(values[i]);
}

}  // namespace

std::vector<Way> ways_of_all(World& world, const DeviceChoice& choice,
                             const std::vector<Device>& chosen, int layers,
                             const WayTogether& exchange) {
  WayTogether together = exchange;
  together.processes = world.size();
  const std::vector<Way> own = own_ways(choice, chosen, layers, together);
  std::string own_texts;
  for (const Way& way : own) own_texts += common_text(way) + "\n";
  const std::vector<std::string> texts = world.gather(own_texts);
  std::vector<Way> ways;
  std::istringstream first(texts.front());
  for (std::string line; std::getline(first, line);) {
    const bool everywhere = std::all_of(texts.begin(), texts.end(), [&](const std::string& text) {
      return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
    });
    const auto way = std::find_if(own.begin(), own.end(),
                                  [&](const Way& one) { return common_text(one) == line; });
    if (everywhere) ways.push_back(*way);
  }
  if (ways.empty()) {
    throw UsageError(
        "the processes' devices have no way to train in common; name each one's (--devices)");
  }
  count_devices(world, ways);
  return ways;
}

std::vector<Way> with_exchanges(const Way& way, const Way& whole) {
  std::vector<Way> ways{way};
  for (const WireType wire : kEveryWire) {
    if (wire == way.together->wire) continue;
    ways.push_back(way);
    ways.back().together->wire = wire;
  }
  for (const int every : kMeetings) {
    if (every == way.together->sync_every) continue;
    ways.push_back(every > 1 && way.placement == ParameterPlacement::spread ? whole : way);
    ways.back().together->sync_every = every;
  }
  return ways;
}

std::string difference_text(const Way& way, const Way& from) {
  std::string text;
  if (way.placement != from.placement)
    text += std::string(" --parameters ") + placement_name(way.placement);
  if (way.stages != from.stages) text += " --stages " + std::to_string(way.stages);
  const auto cores = way.together->cores_per_tower;
  if (cores && cores != from.together->cores_per_tower)
    text += " --cores-per-tower " + std::to_string(*cores);
  if (way.together->wire != from.together->wire)
    text += std::string(" --wire ") + wire_name(way.together->wire);
  if (way.together->sync_every != from.together->sync_every)
    text += " --sync-every " + std::to_string(way.together->sync_every);
  return text.substr(std::min<std::size_t>(1, text.size()));
}

}  // namespace pagoda::app
