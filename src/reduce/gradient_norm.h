#pragma once

#include <pagoda/params/gradient_view.h>

#include <cmath>
#include <optional>
#include <vector>

#include "params/block_plan.h"

namespace pagoda {

/// The Euclidean norm over all parameters of a gradient (its "global norm"), measured in shares.
///
/// The L2 term of the loss can be counted in: the norm is then that of gradient + l2[i] * parameter
/// i. The sum is taken block by block in a fixed order, so that its bits depend neither on the
/// number of shares nor on timing.
///
/// Threads: run_share calls may run at once; `norm` after all of them.
/// Owns: its partial sums; borrows the parameters' memory.
class GradientNorm {
 public:
  explicit GradientNorm(const std::vector<NamedTensor>& parameters);

  void run_share(const GradientView& gradients, const std::vector<double>& l2, int share,
                 int shares);
  double norm() const { return std::sqrt(squares()); }

  /// The square of `norm`. Gradients that cards have summed are not in it: see `summed_squares`.
  double squares() const;
  const std::vector<double>& squares_by_block() const { return squares_; }

 private:
  std::vector<NamedTensor> parameters_;
  BlockPlan plan_;
  std::vector<double> squares_;  // by block
};

/// The sum of squares over the given elements of the gradients that cards have summed, computed on
/// the device of the parameters; L2 as above.
double summed_squares(const std::vector<NamedTensor>& parameters,
                      const std::vector<ElementRange>& ranges, const GradientView& gradients,
                      const std::vector<double>& l2);

/// A gradient's norm, and what clipping leaves of the gradient.
struct Clipped {
  double norm = 0;
  double factor = 1;  ///< 1 where the gradient is short enough
};

/// The one rule of clipping: a gradient that is longer than `max_norm` is scaled to that length;
/// unset clips nothing.
Clipped clipped(double norm, const std::optional<double>& max_norm);

}  // namespace pagoda
