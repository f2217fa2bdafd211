#pragma once

#include <pagoda/device/device.h>

#include <mutex>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

namespace pagoda {

/// Copies of feeds to the towers' cards that run beside what the cards compute, each card's on a
/// stream of its own.
///
/// Threads: any.
class FeedCopies {
 public:
  explicit FeedCopies(const std::vector<Device>& devices);

  /// The tensor in memory from which a copy to the tower's card does not block; the tensor itself
  /// for a CPU tower, and where it is on a card already.
  at::Tensor pinned(const at::Tensor& tensor, int tower) const;

  /// Begins to copy, and gives the tensor on the card; `take` comes before its use.
  at::Tensor begin(const at::Tensor& tensor, int tower);

  /// Lets the calling thread's current stream of the tensor's card wait for the copy, where it is one
  /// of ours; also in the thread of another tower, which moves it on to its own card (asynchronous
  /// towers take whatever feed is next).
  void take(const at::Tensor& tensor);

 private:
  struct Copy {
    at::Tensor tensor;
    c10::Event arrived;
  };

  std::vector<c10::Device> cards_;  // by tower, CPUs too; constant after construction

  std::mutex mutex_;
  // Guarded by mutex_, by tower.
  std::vector<std::optional<c10::Stream>> streams_;  // from the first copy on
  std::vector<std::vector<Copy>> under_way_;
};

}  // namespace pagoda
