#pragma once

#include <pagoda/params/gradient_view.h>
#include <pagoda/tower/replicas.h>

#include <memory>
#include <optional>
#include <vector>

#include "reduce/card_link.h"
#include "reduce/gradient_norm.h"

namespace pagoda {

/// From the towers' own gradients to what an update reads, and from what an update has written to
/// the towers' parameters.
///
/// In a step every tower, in its thread: begin, last_backward, collect; then the coordinating thread
/// takes `view`, and after the update every tower renews. A tower that fails aborts the exchange, so
/// that no other waits for it; `discard` begins anew.
///
/// Threads: what takes a tower in that tower's thread, all towers at once; `abort` on any; the rest
/// on the coordinating thread while no tower runs.
/// Owns: the gradients, from collect until the tower's next begin.
/// Fails: UsageError when a gradient does not fit its parameter; TowerInterrupted on a tower whose
/// exchange was aborted; DeviceError when another tower is late.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;

  /// What the towers compute from here on is so much of the sum over several processes.
  virtual void weigh(double /*weight*/) {}

  /// Drops the tower's gradients of the step before, so that there is never more than one set.
  virtual void begin(int tower) = 0;

  /// The backward that follows is the tower's last in this step: gradients may leave as they become
  /// ready.
  virtual void last_backward(int /*tower*/) {}

  /// Takes the tower's gradients; its model has none afterwards. `mean_scale` makes them those of the
  /// mean over the tower's own samples, whose norm is clipped: the step's weight over the tower's, 0
  /// for a tower without feeds. `l2` is by parameter, as in GradientNorm.
  virtual Clipped collect(int tower, double mean_scale, const std::vector<double>& l2) = 0;

  /// The combined gradient of all towers; `clips` are the factors that `collect` gave.
  virtual GradientView view(const std::vector<double>& clips) = 0;

  /// The squares of what the view has on the tower's own device, over its share of the elements:
  /// what GradientNorm, which reads CPU memory, leaves out.
  virtual double squares_on_device(int tower, const GradientView& gradients,
                                   const std::vector<double>& l2) const = 0;

  /// Gives the tower what others have changed of its parameters, after an update.
  virtual void renew(int tower) = 0;

  /// Whether `renew` reads the master, which then must have what the towers have updated.
  virtual bool renews_from_master() const = 0;

  /// A tower has failed or is late, and will not take part.
  virtual void abort() {}

  /// Drops all gradients, collected or still in the models, after a step that failed.
  virtual void discard() = 0;
};

/// Cards that update their own parameters exchange gradients among themselves where they can;
/// everything else is read in CPU memory. Each tower's own gradient is clipped to `max_tower_norm`
/// before all are combined; unset: not at all. `narrow`: what gradients of 32 bits travel and are
/// summed in between cards; unset: as they are.
///
/// With peers the cards of all processes exchange where they can, and the view has the sum over all of
/// them, each process's gradient times its `weigh`; other gradients are those of this process.
std::unique_ptr<GradientExchange> make_gradient_exchange(
    const std::shared_ptr<const Replicas>& replicas, std::optional<double> max_tower_norm,
    std::optional<at::ScalarType> narrow = std::nullopt,
    const std::optional<LinkPeers>& peers = std::nullopt);

}  // namespace pagoda
