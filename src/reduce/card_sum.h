#pragma once

#include <pagoda/tower/replicas.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "reduce/card_link.h"
#include "reduce/gradient_hooks.h"

namespace pagoda {

/// Sums the towers' gradients among their cards, in buckets that go on their way while backward
/// still runs, and exchanges the shares of spread parameters.
///
/// Buckets are filled from the last parameter to the first, about as backward comes to them, and
/// sent in that order on every tower. Row-sparse gradients are left where they are.
///
/// Threads: begin, end and exchange in the tower's thread; gradients may become ready in threads of
/// LibTorch's meanwhile; abort on any thread, reset while no tower runs.
class CardSum {
 public:
  /// `bucket_bytes` unset: as `bucket_bytes` has it. `narrow`: what gradients of 32 bits travel and are
  /// summed in; unset: as they are.
  CardSum(std::shared_ptr<const Replicas> replicas, std::unique_ptr<CardLink> link,
          std::optional<std::int64_t> bucket_bytes = std::nullopt,
          std::optional<at::ScalarType> narrow = std::nullopt);

  /// An eighth of the gradient, so that most of it can leave early, but large enough to use the link
  /// well (1 MB), and no larger than that needs (25 MB).
  static std::int64_t bucket_bytes(std::int64_t gradient_bytes);

  /// This process's gradients are multiplied by that before they leave. While no tower runs.
  void weigh(double weight) { weight_ = weight; }

  /// The tower's next backward is the last before its gradients are needed.
  void begin(int tower);

  /// Sends what has not left yet. Afterwards the gradients in the tower's model are the sums, in
  /// the parameters' memory layout; a parameter that no tower has used has none. Fails: UsageError
  /// for one whose gradient is dense on some towers and sparse on others.
  void end(int tower);

  /// Gives the tower the other towers' shares of the parameters.
  void exchange(int tower);

  /// A tower has failed and will not take part; `reset` begins anew.
  void abort() { link_->abort(); }
  void reset();

 private:
  struct Bucket {
    std::vector<std::size_t> parameters;
    std::vector<std::int64_t> offsets;  // of each, in elements
    std::int64_t elements = 0;
  };
  struct Tower {
    bool filling = false;
    std::vector<char> ready;           // by parameter
    std::vector<std::size_t> missing;  // by bucket: parameters that are not ready
    std::size_t sent = 0;              // buckets
    std::vector<at::Tensor> sums;      // by bucket
  };

  Tower& tower(int number) { return state_[static_cast<std::size_t>(number)]; }
  const at::Tensor& parameter(int number, std::size_t index) const {
    return replicas_->table(number).trainable[index].tensor;
  }
  void cut(std::int64_t bucket_bytes);
  void clear(Tower& own) const;
  void note_ready(int number, std::size_t parameter);
  void send(int number);
  std::vector<float> count_users(int number);

  // Constant after construction.
  const std::shared_ptr<const Replicas> replicas_;
  const std::unique_ptr<CardLink> link_;
  const std::optional<at::ScalarType> narrow_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter

  double weight_ = 1;
  std::vector<Tower> state_;  // each by its tower's threads, one after another
  const GradientHooks hooks_;
};

}  // namespace pagoda
