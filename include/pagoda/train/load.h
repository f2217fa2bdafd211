#pragma once

#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/tower/tower_group.h>
#include <pagoda/train/step.h>

#include <filesystem>

namespace pagoda {

/// Puts the weights of a file into all towers, as load_state_dict puts them into one model: before
/// their step is made.
///
/// Threads: the coordinating thread. Fails: as load_state_dict; UsageError while a step is at work
/// or AveragedParameters stand in for the parameters; nothing is changed then.
/// Example: `load(towers, "resnet.pt", {.strict = false, .add_prefix = "backbone."});`
LoadResult load(TowerGroup& towers, const std::filesystem::path& path,
                const LoadOptions& options = {});

/// The same for towers that have a step already: its moving average begins anew with these weights.
/// The optimizer's state is left as it is.
LoadResult load(TowerGroup& towers, Step& step, const std::filesystem::path& path,
                const LoadOptions& options = {});

}  // namespace pagoda
