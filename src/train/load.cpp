#include <pagoda/optim/updater.h>
#include <pagoda/train/load.h>

#include <optional>

#include "tower/replica_use.h"

namespace pagoda {

LoadResult load(TowerGroup& towers, const std::filesystem::path& path, const LoadOptions& options) {
  check_free(towers.replicas()->use(), nullptr, "loading weights");
  LoadResult result = load_state_dict(towers.module(0), path, options);
  adopt_first(towers);
  return result;
}

LoadResult load(TowerGroup& towers, Step& step, const std::filesystem::path& path,
                const LoadOptions& options) {
  step.finish();
  Updater& updater = step.updater();
  std::optional<UpdaterState> state;
  if (!updater.averages().empty())
    state = updater.state();  // what it throws comes before any change
  LoadResult result = load(towers, path, options);
  if (state) {
    const auto& parameters = towers.master().trainable;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      state->averages[i].copy_(parameters[i].tensor.detach());
    updater.load(*state);
  }
  step.refresh_towers();
  return result;
}

}  // namespace pagoda
