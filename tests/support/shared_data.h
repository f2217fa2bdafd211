#pragma once

// Real texts that lie beside the project, never in it.

#include <filesystem>

namespace pagoda::testing {

/// ../shared/data, seen from the project's folder; a test that needs it skips without it.
inline std::filesystem::path shared_data() {
  const auto project = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return project.parent_path() / "shared" / "data";
}

}  // namespace pagoda::testing
