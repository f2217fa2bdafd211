#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace pagoda {

/// What the control groups of this process allow it, version 1 and 2; unset is no limit.
struct CgroupLimits {
  std::optional<int> cpus = std::nullopt;  ///< the CPU quota, rounded up
  std::optional<std::int64_t> memory_bytes = std::nullopt;
  /// What is left of that memory. Cached files count as left where they have not been used lately.
  std::optional<std::int64_t> memory_left = std::nullopt;
};

/// The tightest limits on the way from the process's groups to the roots that are mounted, as the
/// files under `root` say it: `proc/self/cgroup`, `proc/self/mountinfo` and where that leads.
/// What cannot be read is no limit.
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace pagoda
