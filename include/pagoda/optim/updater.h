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
  double learning_rate = 0;  ///< rate of this update
  double l2_scale = 1;       ///< fraction of the L2 term that clipping leaves
};

/// What an updater keeps besides the parameters, as whole tensors in CPU memory. Tensors that
/// belong to a parameter have its memory layout.
struct UpdaterState {
  /// The optimizer's tensors by name: "momentum/conv1.weight", …, and the number of updates of each
  /// parameter as "updates". Empty for a torch::optim::Optimizer.
  std::vector<NamedTensor> optimizer;
  /// What a torch::optim::Optimizer saves of itself, as bytes; undefined for other optimizers.
  at::Tensor torch_optimizer;
  /// The moving average of the trainable parameters, in their order; empty if none is kept.
  std::vector<at::Tensor> averages;
};

/// Applies a gradient to the parameters, in shares that several threads run at once.
///
/// One update is: `begin`, then `run_share(s, n)` once for every s in [0, n) on any threads, then
/// `end`.
/// Threads: `begin` and `end` on one thread while no share runs.
/// Owns: the optimizer's state and the moving average. Borrows: the parameters' memory.
/// Fails: UsageError on construction; `begin` throws before anything is changed.
class Updater {
 public:
  virtual ~Updater() = default;

  /// Begins an update with this gradient, which must live until `end`.
  virtual void begin(const GradientView& gradients, const UpdateScalars& scalars) = 0;
  /// Computes share `share` of `shares`.
  virtual void run_share(int share, int shares) = 0;
  /// Ends the update, after all shares are done.
  virtual void end() {}

  /// Replaces UpdateOptions::rules from the next update on. Fails: UsageError for what the
  /// optimizer cannot do; nothing changes then.
  virtual void set_rules(const std::vector<ParameterRule>& rules) = 0;

  /// Whether a share changes only the blocks of its own number, which are final once it has run;
  /// otherwise the parameters are final only after `end`.
  virtual bool changes_by_blocks() const { return true; }

  /// The learning rate at an update, counted from 0.
  virtual double learning_rate(std::int64_t update) const = 0;

  /// A copy of everything besides the parameters that must survive a restart.
  /// Fails: UsageError if the optimizer is of a class that cannot be saved.
  virtual UpdaterState state() const = 0;

  /// Restores such a copy; the names, shapes and types of its optimizer tensors and averages must
  /// be those of `state()`. Fails: DataError if `torch_optimizer` does not fit; nothing changes
  /// then.
  virtual void load(const UpdaterState& state) = 0;

  /// A copy of the moving average alone, for evaluation.
  virtual std::vector<at::Tensor> averages() const { return state().averages; }
};

/// Fails: UsageError naming the first parameter that no updater can change: one that is neither
/// float nor double, is not on the device, or has gaps between its elements.
void check_parameters(const std::vector<NamedTensor>& parameters,
                      c10::Device device = c10::Device(c10::kCPU));

}  // namespace pagoda
