#pragma once

#include <pagoda/optim/optimizer_options.h>
#include <pagoda/params/gradient_view.h>
#include <pagoda/params/parameter_table.h>

#include <cstdint>
#include <vector>

namespace pagoda {

/// What one update needs besides the gradient.
struct UpdateScalars {
  std::int64_t update = 0;  ///< number of this update, from 0
  double learning_rate = 0;
  double l2_scale = 1;  ///< what clipping leaves of the L2 term
};

/// Changes the parameters by a gradient, in shares that several threads run at once.
///
/// One update is: `begin`, then `run_share(s, n)` once for every s in [0, n) on any threads, then
/// `end`. Threads: begin and end on one thread while no share runs. Owns: the optimizer's state and
/// the moving average; borrows the parameters' memory. Fails: UsageError on construction; begin
/// throws before anything is changed.
class Updater {
 public:
  virtual ~Updater() = default;

  virtual void begin(const GradientView& gradients, const UpdateScalars& scalars) = 0;
  virtual void run_share(int share, int shares) = 0;
  virtual void end() {}

  /// The learning rate of an update, counted from 0.
  virtual double learning_rate(std::int64_t update) const = 0;

  /// The moving average of the trainable parameters in their order; empty without one.
  virtual const std::vector<at::Tensor>& averages() const = 0;

  /// Everything that must survive a restart besides parameters and averages, by name: tensors to
  /// read and to write in place.
  virtual std::vector<NamedTensor> state() const = 0;
};

/// Fails: UsageError that names the first parameter that no updater can change: one that is not
/// float or double, not in CPU memory, or whose elements lie with gaps.
void check_parameters(const std::vector<NamedTensor>& parameters);

}  // namespace pagoda
