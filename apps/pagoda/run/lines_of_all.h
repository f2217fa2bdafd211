#pragma once

#include <pagoda/world/world.h>

#include <optional>
#include <string>
#include <vector>

namespace pagoda::app {

/// Lines of which each process has some: all of them, at every process. A line that several have is
/// that of the last; one that nobody has is empty. All processes call it together, with as many lines;
/// null: the process is alone.
/// Fails: WorldError.
std::vector<std::string> lines_of_all(World* world,
                                      const std::vector<std::optional<std::string>>& own);

}  // namespace pagoda::app
