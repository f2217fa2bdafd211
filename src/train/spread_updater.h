#pragma once

#include <pagoda/optim/updater.h>
#include <pagoda/world/world.h>

#include <memory>

namespace pagoda {

/// An updater of this process's part of the parameters, whose state is in parts at all processes.
/// `state` and `averages` are called by all of them together, and whole at each.
std::unique_ptr<Updater> spread_over(std::shared_ptr<World> world, std::unique_ptr<Updater> part);

}  // namespace pagoda
