#pragma once

#include <pagoda/params/gradient_view.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/world/world.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "train/wire.h"

namespace pagoda {

/// Gives every process the touched rows of all processes' row-sparse gradients, in one message to each
/// other process. Rows travel, and their numbers; never the whole matrix.
///
/// Threads: the coordinating one.
class RowExchange {
 public:
  /// `lost[i]` is where parameter i's rounding errors are kept, laid out like it; undefined where
  /// values travel as they are.
  RowExchange(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters,
              WireType wire, std::vector<at::Tensor> lost);

  /// Of each parameter, how many rows each rank has; none for parameters whose rows do not travel.
  using Counts = std::vector<std::vector<std::int64_t>>;

  /// Sums the own towers' rows with these weights, and puts the rows of all ranks into `all`, where
  /// rank r is tower r. Fails: WorldError.
  void run(const GradientView& own, const std::vector<double>& weights, const Counts& counts,
           GradientView& all);

 private:
  void write(std::size_t parameter, const GradientView& own, const std::vector<double>& weights,
             const at::Tensor& numbers, const at::Tensor& values);

  const std::shared_ptr<World> world_;
  const std::vector<NamedTensor> parameters_;
  const WireType wire_;
  const std::vector<at::Tensor> lost_;  // by parameter
};

}  // namespace pagoda
