#pragma once

#include <vector>

#include "optim/optimizer_state.h"
#include "optim/optimizer_traits.h"
#include "optim/part_updater.h"
#include "params/block_plan.h"
#include "params/gradient_visit.h"

namespace pagoda {

/// What all optimizers have in common on every device but for those of LibTorch: their state, and
/// what an update knows before its shares run.
class OptimizerPass : public PartUpdater {
 public:
  OptimizerPass(const std::vector<NamedTensor>& parameters, OptimizerTraits optimizer,
                const UpdateOptions& options, UpdatePart part);

  void begin(const GradientView& gradients, const UpdateScalars& scalars) override;
  void set_rules(const std::vector<ParameterRule>& rules) override;
  double learning_rate(std::int64_t update) const override {
    return optimizer_.learning_rate.at(update);
  }
  UpdaterState state() const override;
  void load(const UpdaterState& state) override { state_.load(state); }
  void write_to(const UpdaterState& whole) const override { state_.write_to(whole); }

 protected:
  /// Called at the end of `begin`, with every parameter's turn.
  virtual void prepare(const std::vector<ParameterTurn>& /*turns*/) {}

  /// The L2 factor of a parameter in this update.
  double l2_of(std::size_t parameter) const { return settings_[parameter].l2 * l2_scale_; }

  /// Rows without a gradient need no visit where the optimizer would leave them as they are.
  Sweep sweep_of(std::size_t parameter) const;

  // Constant after construction.
  const std::vector<NamedTensor> parameters_;
  const UpdatePart part_;
  const BlockPlan plan_;
  OptimizerState state_;

  // Constant while shares run.
  const GradientView* gradients_ = nullptr;
  double average_gain_ = 0;

 private:
  const OptimizerTraits optimizer_;
  UpdateOptions options_;                    // the rules change with set_rules
  std::vector<ParameterSettings> settings_;  // by parameter

  // Constant while shares run.
  double l2_scale_ = 1;
  std::vector<ParameterTurn> turns_;
};

/// A built-in optimizer's scalars for each parameter.
class BuiltinSteps {
 public:
  explicit BuiltinSteps(const OptimizerOptions& optimizer) : optimizer_(optimizer) {}

  void prepare(const std::vector<ParameterTurn>& turns) {
    steps_.clear();
    for (const ParameterTurn& turn : turns) steps_.push_back(step_of(optimizer_, turn));
  }
  const UpdateStep& operator[](std::size_t parameter) const { return steps_[parameter]; }

 private:
  OptimizerOptions optimizer_;
  std::vector<UpdateStep> steps_;
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
