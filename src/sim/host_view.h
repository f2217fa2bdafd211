#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// CPU tensors over the memory of one operation's card tensors, and the way back: a card's memory
/// is host memory, so the CPU's kernels can work in it. Dense and sparse COO tensors.
class HostViews {
 public:
  explicit HostViews(int card) : card_(card) {}

  /// The card's tensor as the host sees it; valid as long as both live.
  at::Tensor view(const at::Tensor& on_card);

  /// What an operation on the host returned, as a tensor of the card: one of the arguments itself,
  /// a view of one, or new memory, which is charged to the card.
  at::Tensor back(const at::Tensor& on_host);

  /// Takes over what the operation changed in an argument beside its elements: its shape, or where
  /// its memory is.
  void take_changes(const at::Tensor& on_card);

 private:
  struct Pair {
    at::Tensor on_card;
    at::Tensor on_host;
  };
  at::Tensor dense_view(const at::Tensor& on_card);
  at::Tensor dense_back(const at::Tensor& on_host);

  const int card_;
  std::vector<Pair> pairs_;
};

/// The card's dense tensor as a CPU tensor over the same memory.
at::Tensor host_view(const at::Tensor& on_card);

}  // namespace pagoda
