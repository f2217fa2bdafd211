#pragma once

#include <vector>

#include "optim/optimizer_state.h"
#include "optim/part_updater.h"
#include "params/block_plan.h"
#include "params/gradient_visit.h"

namespace pagoda {

/// What the built-in optimizers have in common on every device: their state, and what an update
/// knows before its shares run.
class OptimizerPass : public PartUpdater {
 public:
  OptimizerPass(const std::vector<NamedTensor>& parameters, const OptimizerOptions& optimizer,
                const UpdateOptions& options, UpdatePart part);

  void begin(const GradientView& gradients, const UpdateScalars& scalars) override;
  double learning_rate(std::int64_t update) const override { return state_.learning_rate(update); }
  UpdaterState state() const override;
  void load(const UpdaterState& state) override { state_.load(state); }
  void write_to(const UpdaterState& whole) const override { state_.write_to(whole); }

 protected:
  /// The L2 factor of a parameter in this update.
  double l2_of(std::size_t parameter) const { return decays(parameter) ? l2_ : 0; }

  /// Rows without a gradient need no visit where the optimizer would leave them as they are.
  Sweep sweep_of(std::size_t parameter) const;

  // Constant after construction.
  const std::vector<NamedTensor> parameters_;
  const UpdateOptions options_;
  const UpdatePart part_;
  const BlockPlan plan_;
  OptimizerState state_;

  // Constant while shares run.
  const GradientView* gradients_ = nullptr;
  double average_gain_ = 0;
  std::vector<UpdateStep> steps_;

 private:
  bool decays(std::size_t parameter) const;

  double l2_ = 0;
};

/// One fused pass; for parameters in CPU memory.
std::unique_ptr<PartUpdater> make_fused_part(const std::vector<NamedTensor>& parameters,
                                             const OptimizerOptions& optimizer,
                                             const UpdateOptions& options, UpdatePart part);

/// LibTorch's operators; for parameters on any device.
std::unique_ptr<PartUpdater> make_device_part(const std::vector<NamedTensor>& parameters,
                                              const OptimizerOptions& optimizer,
                                              const UpdateOptions& options, UpdatePart part);

}  // namespace pagoda
