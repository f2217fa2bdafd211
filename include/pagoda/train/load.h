#pragma once

#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/tower/tower_group.h>
#include <pagoda/train/step.h>

#include <filesystem>

namespace pagoda {

/// Loads the weights in a file into all towers, as load_state_dict does for one model. Call it
/// before their step is constructed.
///
/// Threads: the coordinating thread.
/// Fails: as load_state_dict; UsageError while a step is at work or AveragedParameters stand in for
/// the parameters. Nothing is changed then.
/// Example: `load(towers, "resnet.pt", {.strict = false, .add_prefix = "backbone."});`
LoadResult load(TowerGroup& towers, const std::filesystem::path& path,
                const LoadOptions& options = {});

/// The same for towers that already have a step: its moving average starts again from these
/// weights. The optimizer's state is left as it is.
LoadResult load(TowerGroup& towers, Step& step, const std::filesystem::path& path,
                const LoadOptions& options = {});

}  // namespace pagoda
