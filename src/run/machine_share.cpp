#include "run/machine_share.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace pagoda {
namespace {

/// The same for all processes that one kernel runs, in containers too; empty where it is not told.
std::string machine_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

/// A line for each core and card.
std::string parts_text(const std::vector<Device>& devices) {
  std::ostringstream text;
  for (const Device& device : devices) {
    for (const int core : device.cores) text << machine_id() << " core " << core << "\n";
    if (device.cores.empty())
      text << machine_id() << " " << kind_name(device.kind) << " " << device.original << "\n";
  }
  return text.str();
}

std::set<std::string> lines_in(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

}  // namespace

bool has_own_devices(World& world, const std::vector<Device>& devices) {
  const std::vector<std::string> all = world.gather(parts_text(devices));
  const std::set<std::string> own = lines_in(all[static_cast<std::size_t>(world.rank())]);
  for (int rank = 0; rank < world.size(); ++rank) {
    if (rank == world.rank()) continue;
    for (const std::string& part : lines_in(all[static_cast<std::size_t>(rank)])) {
      if (own.contains(part)) return false;
    }
  }
  return true;
}

}  // namespace pagoda
