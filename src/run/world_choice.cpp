#include <pagoda/base/error.h>
#include <pagoda/run/device_choice.h>
#include <pagoda/run/world_choice.h>

#include <charconv>
#include <cstdlib>

#include <ATen/ops/zeros.h>

#include "run/machine_share.h"

namespace pagoda {
namespace {

/// What there is to divide; nothing where devices are named, or there are none: that is said later.
std::vector<Device> undivided_devices(const DeviceChoice& choice) {
  if (choice.devices != DeviceChoice{}.devices) return {};
  try {
    return select_devices(choice.devices, choice.options);
  } catch (const Error&) {
    return {};
  }
}

void take_master(const std::string& text, WorldPlace& place) {
  if (text.empty()) return;
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (colon == 0 || error != std::errc() || end != port.data() + port.size() || number < 1 ||
      number > 65'535) {
    throw UsageError("the master is '" + text + "'; it must be HOST:PORT, such as 10.0.0.1:29500");
  }
  place.master = text.substr(0, colon);
  place.port = number;
  place.launcher_serves = false;
}

std::chrono::milliseconds milliseconds(const std::optional<std::chrono::duration<double>>& seconds,
                                       std::chrono::milliseconds otherwise) {
  return seconds ? std::chrono::duration_cast<std::chrono::milliseconds>(*seconds) : otherwise;
}

}  // namespace

std::optional<WorldPlace> chosen_place(const WorldChoice& choice, const Environment& environment) {
  if (!choice.rank && !choice.size && choice.master.empty()) return launched_place(environment);
  if (!choice.rank || !choice.size || choice.master.empty()) {
    throw UsageError(
        "--rank, --world-size and --master belong together: which process this is, of how many, "
        "and "
        "where rank 0 is");
  }
  if (*choice.size < 1 || *choice.rank < 0 || *choice.rank >= *choice.size) {
    throw UsageError("rank " + std::to_string(*choice.rank) + " of " +
                     std::to_string(*choice.size) + " processes cannot be; ranks count from 0");
  }
  if (*choice.size == 1) return std::nullopt;
  WorldPlace place{.rank = *choice.rank, .size = *choice.size};
  take_master(choice.master, place);
  return place;
}

std::optional<WorldPlace> chosen_place(const WorldChoice& choice) {
  return chosen_place(choice, [](const char* name) { return std::getenv(name); });
}

std::shared_ptr<World> join_world(const WorldChoice& choice, DeviceChoice& devices) {
  const auto place = chosen_place(choice);
  if (!place) return nullptr;
  std::shared_ptr<World> world = World::join(*place, world_options(choice));
  if (!has_own_devices(*world, undivided_devices(devices))) {
    devices.local_rank = place->local_rank;
    devices.local_size = place->local_size;
  }
  return world;
}

WorldOptions world_options(const WorldChoice& choice) {
  WorldOptions options;
  options.join_timeout = milliseconds(choice.join_timeout, options.join_timeout);
  options.timeout = milliseconds(choice.step_timeout, options.timeout);
  return options;
}

TowerShare tower_share(World* world, int towers) {
  if (world == nullptr) return towers;
  const at::Tensor counts = at::zeros({world->size()}, at::kLong);
  counts[world->rank()].fill_(towers);
  world->sum(counts);
  return {static_cast<int>(counts.narrow(0, 0, world->rank()).sum().item<std::int64_t>()), towers,
          static_cast<int>(counts.sum().item<std::int64_t>())};
}

}  // namespace pagoda
