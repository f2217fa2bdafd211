#pragma once

#include <pagoda/params/layer.h>

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pagoda {

inline constexpr std::int64_t kPaddingToken = 0;

/// What a decoder is given, what is expected of it, and how many tokens count in each row.
struct TargetTokens {
  at::Tensor inputs;
  at::Tensor labels;
  at::Tensor lengths;
};

inline TargetTokens target_tokens(const at::Tensor& target) {
  const std::int64_t steps = target.size(1) - 1;
  const at::Tensor labels = target.narrow(1, 1, steps);
  return {target.narrow(1, 0, steps), labels, labels.ne(kPaddingToken).sum(1).cpu()};
}

/// Outputs of the decoder and the tokens expected of them, for the places that count: only these go
/// through the output layer.
inline Tensors counted_places(const at::Tensor& outputs, const at::Tensor& labels) {
  const at::Tensor places = labels.ne(kPaddingToken).flatten().nonzero().squeeze(1);
  return {outputs.flatten(0, 1).index_select(0, places), labels.flatten().index_select(0, places)};
}

}  // namespace pagoda
