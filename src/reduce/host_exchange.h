#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reduce/combine.h"
#include "reduce/gradient_exchange.h"
#include "tower/parameter_copies.h"

namespace pagoda {

/// Gradients in CPU memory: those of CPU towers are read where backward left them, those of cards
/// are copied there. Nothing is summed: the update does that while it reads.
class HostExchange final : public GradientExchange {
 public:
  HostExchange(std::shared_ptr<const Replicas> replicas, std::optional<double> max_tower_norm);

  void begin(int tower) override { gradients_.release(tower); }
  Clipped collect(int tower, double mean_scale, const std::vector<double>& l2) override;
  GradientView view(const std::vector<double>& clips) override { return gradients_.view(clips); }
  double squares_on_device(int, const GradientView&, const std::vector<double>&) const override {
    return 0;
  }
  void renew(int tower) override { replicas_->copies().renew(tower); }
  bool renews_from_master() const override { return true; }
  void discard() override { gradients_.discard(); }

  /// Some towers' gradients, those of `towers[i]` counting `weights[i]` times; for updates that do
  /// not wait for all. Any thread, while none of these towers collects or begins.
  GradientView view(const std::vector<double>& weights, const std::vector<int>& towers) const {
    return gradients_.view(weights, towers);
  }

  /// What the tower computes with, in CPU memory, where that is not the master: its norm counts the
  /// L2 term of these values.
  void set_values(int tower, const std::vector<NamedTensor>& values);

 private:
  const std::shared_ptr<const Replicas> replicas_;
  const std::optional<double> max_tower_norm_;
  GradientCollector gradients_;
  std::vector<GradientNorm> norms_;  // by tower, where these are clipped
};

}  // namespace pagoda
