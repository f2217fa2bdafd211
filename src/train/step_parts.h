#pragma once

#include <pagoda/optim/updater.h>
#include <pagoda/tower/tower_group.h>
#include <pagoda/train/step.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "reduce/buffers.h"
#include "reduce/gradient_exchange.h"
#include "reduce/gradient_norm.h"
#include "train/loss_scaler.h"
#include "train/world_step.h"

namespace pagoda {

/// The combined gradient of one update, and what clipping leaves of it.
struct CombinedGradient {
  GradientView view;
  double l2_scale = 0;                        // of the L2 term
  std::optional<double> norm = std::nullopt;  // before the clip, where it is measured
};

/// What every way to step has: the parts that its engine puts together.
///
/// Threads: shared by the coordinating thread and the towers', each part by its own rules; numbers
/// are the coordinating thread's.
class StepParts {
 public:
  StepParts(std::shared_ptr<Replicas> replicas, std::unique_ptr<Updater> updater,
            std::unique_ptr<GradientExchange> exchange, const StepOptions& options,
            std::shared_ptr<const WorldShare> share = nullptr);

  const std::shared_ptr<Replicas> replicas;
  const StepOptions options;
  const std::unique_ptr<Updater> updater;
  const std::unique_ptr<GradientExchange> exchange;
  BufferCombiner buffers;
  GradientNorm norm;  // of the combined gradient, where all towers measure it together
  const std::unique_ptr<WorldStep> world;  // null without other processes

  const std::unique_ptr<LossScaler> loss_scaler;  // null but for fp16

  std::int64_t count = 0;  // steps done, skipped ones included
  double rate_factor = 1;  // of the optimizer's schedule

  /// A part of the next step that all towers do at once.
  TowerPhase phase(const char* name) const {
    return {.name = name, .step = count, .watch = &options.on_phase};
  }

  /// Of the next step. Nothing else asks the optimizer's schedule.
  double learning_rate() const { return updater->learning_rate(count) * rate_factor; }

  /// The weight of a step's feeds together. Fails: UsageError when it is 0 and nobody else has any.
  double weight_of(const std::vector<detail::FeedInfo>& feeds) const;

  /// What the next backward's gradients are multiplied by.
  double scale() const { return loss_scaler ? loss_scaler->scale() : 1; }

  /// A scaled gradient's norm tells whether it has overflowed; before a hook sees it, where there is
  /// one.
  bool measures_norm() const {
    return options.max_grad_norm || options.measure_grad_norm ||
           (loss_scaler && !options.on_gradient);
  }
  bool measures_before_hook() const { return loss_scaler && options.on_gradient; }

  /// Whether what is not finite is an overflow of a gradient that was multiplied by `scale`, which is
  /// lower from now on: no error. Otherwise StepOptions::on_non_finite says what happens. Any thread.
  bool note_overflow(NotFinite found, double scale) {
    return found == NotFinite::gradient && loss_scaler && loss_scaler->note_overflow(scale);
  }

  /// What holds for each parameter.
  const std::vector<ParameterSettings>& settings() const { return settings_; }

  /// Other rules from the next step on. Fails: UsageError; nothing changes then.
  void set_rules(const std::vector<ParameterRule>& rules);

  /// What each parameter's L2 term is multiplied by, after the towers' clipping.
  std::vector<double> scaled_l2(double scale) const;

  /// Clips a gradient whose norm was measured; leaves any other. False when the norm is not finite.
  bool clip(CombinedGradient& gradient) const;

  /// Before the towers compute these feeds together.
  void begin(const std::vector<detail::FeedInfo>& feeds);

  /// The tower's next backward is its last in this step: gradients may leave as they become ready. In
  /// the tower's thread.
  void last_backward(int tower) {
    exchange->last_backward(tower);
    if (world) world->last_backward(tower);
  }

  /// A tower has failed or is late: nobody waits for it any more. Any thread.
  void abort();

  /// After a step that came to nothing: no gradients are left, and all buffers are as before it.
  void abandon();

 private:
  std::vector<ParameterSettings> settings_;  // by parameter; constant while towers run
};

/// Where the towers update, each has its own part; `share` says of how many processes' towers, null: of
/// this one's.
/// Fails: UsageError for an optimizer that cannot update there.
std::unique_ptr<Updater> make_updater(TowerGroup& towers, const AnyOptimizer& optimizer,
                                      const StepOptions& options,
                                      const WorldShare* share = nullptr);

/// The parts of a step whose towers exchange gradients as their placement allows.
std::shared_ptr<StepParts> make_parts(TowerGroup& towers, const AnyOptimizer& optimizer,
                                      const StepOptions& options);

}  // namespace pagoda
