#pragma once

#include <pagoda/params/parameter_table.h>
#include <pagoda/world/world.h>

#include <memory>
#include <vector>

#include "params/block_plan.h"

namespace pagoda {

/// Which elements of the parameters each process updates, where these are spread over the towers of
/// all processes.
///
/// Threads: the coordinating one.
class WorldShare {
 public:
  /// All processes make it together, each with its number of towers.
  WorldShare(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters, int towers);

  int first_tower() const { return first_tower_; }
  int all_towers() const { return all_towers_; }

  /// Of each parameter, what is the rank's.
  const std::vector<ElementRange>& of(int rank) const {
    return ranges_[static_cast<std::size_t>(rank)];
  }

  /// Gives every process the others' parts of the parameters, as they have updated them.
  void exchange() const;

 private:
  at::Tensor joined(int rank, at::ScalarType type) const;
  void divide(int rank, const at::Tensor& values) const;

  const std::shared_ptr<World> world_;
  const std::vector<NamedTensor> parameters_;
  int first_tower_ = 0;
  int all_towers_ = 0;
  std::vector<std::vector<ElementRange>> ranges_;  // by rank, then by parameter
};

}  // namespace pagoda
