#pragma once

#include <pagoda/params/gradient_view.h>
#include <pagoda/tower/replicas.h>

#include <memory>
#include <vector>

namespace pagoda {

/// Takes the gradients out of the towers' models and presents those of all towers as one.
///
/// A step is: every tower `collect`s in its thread after backward, then the coordinating thread
/// calls `view`. Nothing is summed here: who reads the view sums, in tower order.
///
/// Threads: collect(t) in the thread of tower t; the rest on the coordinating thread, between
/// phases. Owns: the gradients, from collect until `release` or `discard`. Fails: UsageError when a
/// gradient does not fit its parameter.
class GradientCollector {
 public:
  enum class Gradients {
    own,              ///< each tower has its own
    summed_on_cards,  ///< the cards have summed dense ones, which stay there
  };
  explicit GradientCollector(std::shared_ptr<const Replicas> replicas,
                             Gradients gradients = Gradients::own);

  /// Takes the tower's gradients; its model has none afterwards. Sparse gradients are coalesced.
  void collect(int tower);

  /// The gradients of these towers, after their collect; those of `towers[i]` count `weights[i]`
  /// times. Any thread, while none of the towers collects or releases.
  GradientView view(const std::vector<double>& weights, const std::vector<int>& towers) const;

  /// The gradients of all towers; tower t's counts `weights[t]` times.
  GradientView view(const std::vector<double>& weights) const;

  /// Drops the tower's gradients before its next backward makes new ones: never more than one set
  /// for each tower. In the tower's thread.
  void release(int tower);

  /// Drops all gradients, collected or still in the models, after a step that failed.
  void discard();

 private:
  const std::shared_ptr<const Replicas> replicas_;
  const bool summed_;
  std::vector<std::vector<at::Tensor>> collected_;  // by tower, then by parameter
};

/// The gradient in CPU memory, laid out like the parameter (dense) or with sorted rows (sparse).
at::Tensor in_layout_of(const at::Tensor& parameter, at::Tensor gradient);

/// One parameter's gradient out of those of several towers, each dense, row-sparse or undefined.
ParameterGradient combine(const at::Tensor& parameter, std::vector<at::Tensor> towers);

}  // namespace pagoda
