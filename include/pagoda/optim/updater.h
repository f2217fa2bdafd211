#pragma once

#include <pagoda/optim/optimizer_options.h>
#include <pagoda/params/gradient_view.h>
#include <pagoda/params/parameter_table.h>

#include <cstdint>
#include <vector>

namespace pagoda {

/// What one update needs besides the gradient.
struct UpdateScalars {
  std::int64_t update = 0;   ///< number of this update, from 0
  double learning_rate = 0;  ///< of this update
  double l2_scale = 1;       ///< what clipping leaves of the L2 term
};

/// What an updater keeps besides the parameters, as whole tensors in CPU memory. Those that belong
/// to a parameter are laid out like it.
struct UpdaterState {
  /// The optimizer's tensors by name: "momentum/conv1.weight", …, and the number of updates of each
  /// parameter as "updates". Empty for a torch::optim::Optimizer.
  std::vector<NamedTensor> optimizer;
  /// What a torch::optim::Optimizer saves of itself, as bytes; undefined for a built-in one.
  at::Tensor torch_optimizer;
  /// The moving average of the trainable parameters in their order; empty without one.
  std::vector<at::Tensor> averages;
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

  /// Begins an update by this gradient.
  virtual void begin(const GradientView& gradients, const UpdateScalars& scalars) = 0;
  /// Updates share `share` of `shares`.
  virtual void run_share(int share, int shares) = 0;
  /// Ends the update, when all shares are done.
  virtual void end() {}

  /// What is different for some parameters from the next update on, in place of
  /// UpdateOptions::rules. Fails: UsageError for what the optimizer cannot do; nothing changes then.
  virtual void set_rules(const std::vector<ParameterRule>& rules) = 0;

  /// Whether a share changes the blocks of its own number and nothing else; otherwise the
  /// parameters are new only after `end`.
  virtual bool changes_by_blocks() const { return true; }

  /// The learning rate of an update, counted from 0.
  virtual double learning_rate(std::int64_t update) const = 0;

  /// A copy of everything that must survive a restart besides the parameters.
  /// Fails: UsageError when the optimizer is of a class that cannot be saved.
  virtual UpdaterState state() const = 0;

  /// Takes such a copy over; the names, shapes and types of its optimizer and averages must be
  /// those of `state()`. Fails: DataError when `torch_optimizer` does not fit; nothing is changed
  /// then.
  virtual void load(const UpdaterState& state) = 0;

  /// A copy of the moving average alone, for evaluation.
  virtual std::vector<at::Tensor> averages() const { return state().averages; }
};

/// Fails: UsageError that names the first parameter that no updater can change: one that is not
/// float or double, not on the device, or whose elements lie with gaps.
void check_parameters(const std::vector<NamedTensor>& parameters,
                      c10::Device device = c10::Device(c10::kCPU));

}  // namespace pagoda
