#pragma once

#include <pagoda/params/gradient_view.h>
#include <pagoda/tower/replicas.h>
#include <pagoda/train/step_options.h>
#include <pagoda/train/step_result.h>
#include <pagoda/world/world.h>

#include <memory>
#include <string>
#include <vector>

#include "reduce/buffers.h"
#include "train/early_gradients.h"
#include "train/loss_scaler.h"
#include "train/meeting.h"
#include "train/row_exchange.h"
#include "train/world_sum.h"

namespace pagoda {

struct CombinedGradient;

/// What a step does together with the other processes of its world: numbers, gradients and buffers
/// become those of all towers of all processes, with the same bits everywhere, so that every process
/// goes on to the same decision and the same update.
///
/// In a step, on the coordinating thread: begin; after the towers have computed, agree, then
/// `pack_share` on the towers, then `exchange`, and `share_buffers` after the update.
///
/// Where the cards of all processes have summed dense gradients among themselves, only the rest
/// travels here. Otherwise dense gradients travel in the buckets of a WorldSum. Which of them hold something is known after
/// `agree`; those that did in the step before leave while backward still runs, where each tower's own
/// gradient is not changed any more once it is there. What has left early gives the same bits as what
/// leaves later.
///
/// Fails: WorldError when another process is gone or has failed.
class WorldStep {
 public:
  /// `share`: which parts of the parameters each process updates; null: everything.
  WorldStep(const StepOptions& options, std::shared_ptr<const Replicas> replicas,
            std::shared_ptr<const WorldShare> share);

  /// Before the towers compute feeds of these weights, by tower. `parameters`: which can have
  /// gradients; `scale`: what these are multiplied by.
  void begin(const std::vector<double>& tower_weights, std::vector<char> parameters, double scale);

  /// Where processes train on their own and only meet: then a step does nothing here. Null otherwise.
  Meeting* meeting() const { return meeting_.get(); }

  /// What must survive a restart: tensors by name, complete at rank 0. All processes call it together;
  /// it gathers at rank 0 what they have, so that a resumed run has the same.
  std::vector<NamedTensor> state();

  /// Whether there is any, or the updater's state lies in parts at all processes.
  bool keeps_state() const { return share_ || !kept().empty(); }

  /// Takes such a state over; what is of another way to exchange is left out.
  void load(const std::vector<NamedTensor>& state);

  /// The tower's next backward is its last in this step. In the tower's thread.
  void last_backward(int tower);

  /// Makes the result that of all processes, and learns which parameters have gradients anywhere.
  /// `own` is this process's gradient, `found` what of its losses and norms is not finite; gives the
  /// worst that any process has found.
  NotFinite agree(StepResult& result, CombinedGradient& own, NotFinite found);

  /// Of the texts that all processes have, the first that is not empty, with the name of its process;
  /// empty when all are.
  std::string first_text(const std::string& own_text);

  /// Sums the towers' dense gradients into what travels: a share of it, for any thread.
  void pack_share(const GradientView& own, int share, int shares);

  /// The gradient of all processes; where the state is spread, only this process's part of it.
  GradientView exchange(const GradientView& own);

  /// Which part each process updates, where optimizer state and average are divided among the towers of
  /// all of them; null where everybody updates everything.
  const WorldShare* share() const { return share_.get(); }

  /// The sum of what each process has measured of its own part, by block, in the blocks' order.
  double sum_of_parts(const std::vector<double>& by_block);

  /// Rank 0's number, which all have with other bits.
  double of_first(double own);

  /// Makes the buffers' values those of all processes: means by their weights, and rank 0's of what has
  /// no mean.
  void share_buffers(std::vector<BufferValue>& buffers, double own_weight);

  /// This process's towers were interrupted by another process, which fails: waits for it to say why.
  /// Fails: WorldError with that.
  void throw_failure_of_others() { world_->barrier(); }

  /// Ends the others' step with this process's failure.
  void fail(const std::string& reason) noexcept { world_->fail(reason); }

 private:
  std::vector<NamedTensor> kept() const;
  at::Tensor told(const StepResult& result, const CombinedGradient& own, NotFinite found) const;
  void learn_forms(const std::vector<at::Tensor>& all, const std::vector<double>& sums);
  void plan_next(const std::vector<char>& fit);
  bool leaves_now(std::size_t bucket) const;
  std::vector<double> own_weights(const GradientView& own) const;

  const std::shared_ptr<World> world_;
  const std::shared_ptr<const Replicas> replicas_;
  const std::vector<NamedTensor>& parameters_;
  const std::shared_ptr<const WorldShare> share_;
  WorldSum sum_;
  RowExchange row_exchange_;
  const std::unique_ptr<Meeting> meeting_;      // null where gradients are exchanged in every step
  std::unique_ptr<EarlyGradients> early_;       // null where gradients change after backward
  std::vector<char> expected_;                  // by bucket: which leave before all have agreed
  std::vector<char> travels_;                   // by bucket, in this step
  std::vector<ParameterGradient::Form> forms_;  // of each parameter in this step, anywhere
  RowExchange::Counts rows_;
  double own_weight_ = 0;    // of this process's feeds
  double total_weight_ = 1;  // of all processes'
};

}  // namespace pagoda
