#pragma once

#include <pagoda/params/gradient_view.h>
#include <pagoda/train/step_result.h>
#include <pagoda/world/world.h>

#include <memory>
#include <string>
#include <vector>

#include "params/block_plan.h"
#include "reduce/buffers.h"

namespace pagoda {

struct CombinedGradient;

/// What a step does together with the other processes of its world: numbers, gradients and buffers
/// become those of all towers of all processes, with the same bits everywhere, so that every process
/// goes on to the same decision and the same update.
///
/// In a step, on the coordinating thread: agree; then `pack_share` on the towers; then `exchange`,
/// and `share_buffers` after the update.
///
/// Fails: WorldError when another process is gone or has failed.
class WorldStep {
 public:
  WorldStep(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters);

  /// Makes the result that of all processes, and learns which parameters have gradients anywhere.
  /// `own` is this process's gradient, `is_finite` whether its losses and norms are; gives whether
  /// all processes' are.
  bool agree(StepResult& result, CombinedGradient& own, bool is_finite);

  /// Of the texts that all processes have, the first that is not empty, with the name of its process;
  /// empty when all are.
  std::string first_text(const std::string& own_text);

  /// Sums the towers' dense gradients into what travels: a share of it, for any thread.
  void pack_share(const GradientView& own, int share, int shares);

  /// The gradient of all processes.
  GradientView exchange(const GradientView& own);

  /// Makes the buffers' values those of all processes: weighted means, and rank 0's of what has no
  /// mean.
  void share_buffers(std::vector<BufferValue>& buffers);

  /// Ends the others' step with this process's failure.
  void fail(const std::string& reason) noexcept { world_->fail(reason); }

 private:
  void place_dense();
  template <class T>
  void pack_block(const GradientView& own, const std::vector<double>& weights, const Block& block);
  ParameterGradient exchange_rows(const at::Tensor& parameter, const ParameterGradient& own,
                                  const std::vector<double>& weights);
  std::vector<double> own_weights(const GradientView& own) const;

  const std::shared_ptr<World> world_;
  const std::vector<NamedTensor> parameters_;
  const BlockPlan plan_;
  std::vector<ParameterGradient::Form> forms_;  // of each parameter in this step, anywhere
  std::vector<at::Tensor> packed_;  // by parameter: its place in what travels, laid out like it
  std::vector<at::Tensor> flat_;    // all of that, one tensor for each type of element
  double part_ = 1;                 // of this process in the step's weight
};

}  // namespace pagoda
