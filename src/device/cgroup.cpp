#include "device/cgroup.h"

#include <pagoda/device/cpu_cores.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pagoda {
namespace {

/// Version 1 writes "no limit" as the largest number of pages.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

/// Whether a name stands in a list such as "cpu,cpuacct".
bool lists(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

/// The group of this process that has a controller, and how its files are named.
struct Group {
  std::filesystem::path mount;  ///< of the hierarchy
  std::string path;             ///< of the group below it, "" or beginning with a slash
  int version;

  /// The group's directory and those above it.
  std::vector<std::filesystem::path> directories() const {
    std::vector<std::filesystem::path> found;
    for (std::string rest = path;; rest.resize(rest.rfind('/'))) {
      found.push_back(mount.string() + rest);
      if (rest.empty()) return found;
    }
  }
};

/// Where the hierarchy of a line "4:memory:/a/b" or "0::/a/b" is mounted.
std::optional<Group> mounted(const std::filesystem::path& root, const std::string& controllers,
                             std::string path) {
  const int version = controllers.empty() ? 2 : 1;
  std::istringstream lines(text_of(root / "proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::string id, parent, device, top, point, kind, source, options;
    std::istringstream(line.substr(0, dash)) >> id >> parent >> device >> top >> point;
    std::istringstream(line.substr(dash + 3)) >> kind >> source >> options;
    const bool is_it =
        version == 2
            ? kind == "cgroup2"
            : kind == "cgroup" && lists(options, controllers.substr(0, controllers.find(',')));
    if (!is_it || !point.starts_with('/')) continue;
    // A container may see a part of the hierarchy, mounted as if it were all.
    if (top != "/") path = path.starts_with(top) ? path.substr(top.size()) : "";
    while (path.ends_with('/')) path.pop_back();
    if (!path.empty() && (path[0] != '/' || path.starts_with("/.."))) path.clear();
    return Group{root / point.substr(1), path, version};
  }
  return std::nullopt;
}

/// The groups of this process that limit `controller`.
std::vector<Group> groups_with(const std::filesystem::path& root, const std::string& controller) {
  std::vector<Group> groups;
  std::istringstream lines(text_of(root / "proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !lists(controllers, controller)) continue;
    if (auto group = mounted(root, controllers, line.substr(second + 1))) groups.push_back(*group);
  }
  return groups;
}

template <class Number>
void tighten(std::optional<Number>& limit, Number value) {
  limit = std::min(limit.value_or(value), value);
}

void add_cpus(const std::filesystem::path& directory, int version, CgroupLimits& limits) {
  const std::string text = version == 2 ? text_of(directory / "cpu.max")
                                        : text_of(directory / "cpu.cfs_quota_us") + " " +
                                              text_of(directory / "cpu.cfs_period_us");
  if (const auto cpus = cores_of_cpu_max(text)) tighten(limits.cpus, *cpus);
}

/// Bytes of cached files that have not been used lately.
std::int64_t old_files(const std::filesystem::path& directory, int version) {
  std::istringstream words(text_of(directory / "memory.stat"));
  const std::string wanted = version == 2 ? "inactive_file" : "total_inactive_file";
  std::string name;
  std::int64_t bytes = 0;
  while (words >> name >> bytes) {
    if (name == wanted) return bytes;
  }
  return 0;
}

void add_memory(const std::filesystem::path& directory, int version, CgroupLimits& limits) {
  const auto limit =
      number_of(text_of(directory / (version == 2 ? "memory.max" : "memory.limit_in_bytes")));
  if (!limit || *limit < 0 || *limit >= kNoLimit) return;
  tighten(limits.memory_bytes, *limit);
  const auto used =
      number_of(text_of(directory / (version == 2 ? "memory.current" : "memory.usage_in_bytes")));
  // Each is at most the limit, so that no sum is too large.
  const std::int64_t in_use = std::clamp<std::int64_t>(used.value_or(0), 0, *limit);
  const std::int64_t cached = std::clamp<std::int64_t>(old_files(directory, version), 0, in_use);
  tighten(limits.memory_left, *limit - in_use + cached);
}

}  // namespace

CgroupLimits cgroup_limits(const std::filesystem::path& root) {
  CgroupLimits limits;
  for (const Group& group : groups_with(root, "cpu")) {
    for (const auto& directory : group.directories()) add_cpus(directory, group.version, limits);
  }
  for (const Group& group : groups_with(root, "memory")) {
    for (const auto& directory : group.directories()) add_memory(directory, group.version, limits);
  }
  return limits;
}

}  // namespace pagoda
